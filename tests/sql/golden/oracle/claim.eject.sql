-- ACTIVE find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (0) AND t.waits IS NULL
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
FOR UPDATE

-- ACTIVE change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.token = t.token + 1,
    t.attempt = CASE t.state WHEN 0 THEN t.attempt ELSE t.attempt + 1 END,
    t.descent = GREATEST(t.descent, t.state), t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (0) AND t.waits IS NULL

-- ACTIVE read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence

-- ACTIVE+READY+SUSPENDED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (0, 1, 4) AND t.waits IS NULL
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
FOR UPDATE

-- ACTIVE+READY+SUSPENDED change
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.token = t.token + 1,
    t.attempt = CASE t.state WHEN 0 THEN t.attempt ELSE t.attempt + 1 END,
    t.descent = GREATEST(t.descent, t.state), t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (0, 1, 4) AND t.waits IS NULL

-- ACTIVE+READY+SUSPENDED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
