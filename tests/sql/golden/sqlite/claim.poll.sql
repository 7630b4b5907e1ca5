-- FIRST_IN_FIRST_OUT NONE COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    ORDER BY t.sequence ASC LIMIT :size
)
RETURNING sequence, identifier, input, attempt, token, failed

-- FIRST_IN_FIRST_OUT NONE TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    ORDER BY t.sequence ASC LIMIT :size

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence < t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    ORDER BY t.sequence ASC LIMIT :size
)
RETURNING sequence, identifier, input, attempt, token, failed

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence < t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c JOIN task AS s ON s.sequence = c.sequence AND s.token + 1 = c.token
        WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
    ORDER BY t.sequence ASC LIMIT :size

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0, 2, 3) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence < t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    ORDER BY t.sequence ASC LIMIT :size
)
RETURNING sequence, identifier, input, attempt, token, failed

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0, 2, 3) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence < t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c JOIN task AS s ON s.sequence = c.sequence AND s.token + 1 = c.token
        WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
    ORDER BY t.sequence ASC LIMIT :size

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0, 2, 3, 4) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence < t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    ORDER BY t.sequence ASC LIMIT :size
)
RETURNING sequence, identifier, input, attempt, token, failed

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0, 2, 3, 4) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence < t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c JOIN task AS s ON s.sequence = c.sequence AND s.token + 1 = c.token
        WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
    ORDER BY t.sequence ASC LIMIT :size

-- LAST_IN_FIRST_OUT NONE COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    ORDER BY t.sequence DESC LIMIT :size
)
RETURNING sequence, identifier, input, attempt, token, failed

-- LAST_IN_FIRST_OUT NONE TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    ORDER BY t.sequence DESC LIMIT :size

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence > t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    ORDER BY t.sequence DESC LIMIT :size
)
RETURNING sequence, identifier, input, attempt, token, failed

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence > t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c JOIN task AS s ON s.sequence = c.sequence AND s.token + 1 = c.token
        WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
    ORDER BY t.sequence DESC LIMIT :size

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0, 2, 3) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence > t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    ORDER BY t.sequence DESC LIMIT :size
)
RETURNING sequence, identifier, input, attempt, token, failed

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0, 2, 3) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence > t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c JOIN task AS s ON s.sequence = c.sequence AND s.token + 1 = c.token
        WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
    ORDER BY t.sequence DESC LIMIT :size

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0, 2, 3, 4) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence > t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    ORDER BY t.sequence DESC LIMIT :size
)
RETURNING sequence, identifier, input, attempt, token, failed

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_open
        WHERE s.state IN (0, 2, 3, 4) AND s.state <= 4 AND s.state <> 1 AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY task_listed
        WHERE s.state = 1 AND (s.listed = 1 OR s.token > 0) AND s.sequence > t.sequence AND s.topic = :topic AND s.identifier = t.identifier)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c JOIN task AS s ON s.sequence = c.sequence AND s.token + 1 = c.token
        WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)
    ORDER BY t.sequence DESC LIMIT :size
