-- find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 0
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
FOR UPDATE

-- change
UPDATE task t SET t.owner = :owner, t.token = t.token + 1, t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence

-- read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
