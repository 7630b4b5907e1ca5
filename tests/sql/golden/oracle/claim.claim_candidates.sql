-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
FOR UPDATE SKIP LOCKED

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
FOR UPDATE SKIP LOCKED

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3))
FOR UPDATE SKIP LOCKED

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3))
FOR UPDATE SKIP LOCKED

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3, 4))
FOR UPDATE SKIP LOCKED

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence < t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3, 4))
FOR UPDATE SKIP LOCKED

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
FOR UPDATE SKIP LOCKED

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
FOR UPDATE SKIP LOCKED

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3))
FOR UPDATE SKIP LOCKED

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3))
FOR UPDATE SKIP LOCKED

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3, 4))
FOR UPDATE SKIP LOCKED

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
AND t.state = 1
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 0)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state = 1 AND s.sequence > t.sequence)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state IN (2, 3, 4))
FOR UPDATE SKIP LOCKED

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
