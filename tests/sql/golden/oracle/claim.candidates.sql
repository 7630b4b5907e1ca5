-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER
SELECT /*+ FIRST_ROWS INDEX(t task_ready) */ t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c
    JOIN task s ON s.topic = c.topic AND s.sequence = c.sequence AND s.token = c.token - 1
    WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
SELECT /*+ FIRST_ROWS INDEX(t task_ready) */ t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3))
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c
    JOIN task s ON s.topic = c.topic AND s.sequence = c.sequence AND s.token = c.token - 1
    WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
SELECT /*+ FIRST_ROWS INDEX(t task_ready) */ t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3, 4))
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c
    JOIN task s ON s.topic = c.topic AND s.sequence = c.sequence AND s.token = c.token - 1
    WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER
SELECT /*+ FIRST_ROWS INDEX_DESC(t task_ready) */ t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c
    JOIN task s ON s.topic = c.topic AND s.sequence = c.sequence AND s.token = c.token - 1
    WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END DESC

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
SELECT /*+ FIRST_ROWS INDEX_DESC(t task_ready) */ t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3))
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c
    JOIN task s ON s.topic = c.topic AND s.sequence = c.sequence AND s.token = c.token - 1
    WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END DESC

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
SELECT /*+ FIRST_ROWS INDEX_DESC(t task_ready) */ t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3, 4))
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c
    JOIN task s ON s.topic = c.topic AND s.sequence = c.sequence AND s.token = c.token - 1
    WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END DESC
