-- FIRST_IN_FIRST_OUT NONE COMMITTED find
SELECT /*+ FIRST_ROWS INDEX(t task_ready) */ t.sequence FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END
FOR UPDATE SKIP LOCKED

-- FIRST_IN_FIRST_OUT NONE COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- FIRST_IN_FIRST_OUT NONE COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- FIRST_IN_FIRST_OUT NONE TRANSACTION find
SELECT /*+ FIRST_ROWS INDEX(t task_ready) */ t.sequence FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END
FOR UPDATE SKIP LOCKED

-- FIRST_IN_FIRST_OUT NONE TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- FIRST_IN_FIRST_OUT NONE TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- LAST_IN_FIRST_OUT NONE COMMITTED find
SELECT /*+ FIRST_ROWS INDEX_DESC(t task_ready) */ t.sequence FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END DESC
FOR UPDATE SKIP LOCKED

-- LAST_IN_FIRST_OUT NONE COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- LAST_IN_FIRST_OUT NONE COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- LAST_IN_FIRST_OUT NONE TRANSACTION find
SELECT /*+ FIRST_ROWS INDEX_DESC(t task_ready) */ t.sequence FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END DESC
FOR UPDATE SKIP LOCKED

-- LAST_IN_FIRST_OUT NONE TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- LAST_IN_FIRST_OUT NONE TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
