-- COMMITTED find
SELECT /*+ FIRST_ROWS INDEX(t task_sibling) */ t.sequence FROM task t
WHERE t.topic = :topic AND t.identifier >= :low AND t.identifier < :high AND t.state = 1
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
ORDER BY t.identifier, t.state, t.sequence
FOR UPDATE SKIP LOCKED

-- COMMITTED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- COMMITTED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- TRANSACTION find
SELECT /*+ FIRST_ROWS INDEX(t task_sibling) */ t.sequence FROM task t
WHERE t.topic = :topic AND t.identifier >= :low AND t.identifier < :high AND t.state = 1
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
ORDER BY t.identifier, t.state, t.sequence
FOR UPDATE SKIP LOCKED

-- TRANSACTION change
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- TRANSACTION read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
