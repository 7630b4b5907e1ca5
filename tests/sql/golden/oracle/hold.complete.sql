-- COMMITTED
UPDATE task t SET t.state = :state, t.completed = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.due = COALESCE(TO_TIMESTAMP(:due, 'YYYY-MM-DD HH24:MI:SS.FF6'), SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:delay, 'SECOND')), t.output = :output
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 0 AND t.owner = :owner AND t.token = :token

-- TRANSACTION
UPDATE task t SET t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1, t.polled = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.state = :state, t.completed = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.due = COALESCE(TO_TIMESTAMP(:due, 'YYYY-MM-DD HH24:MI:SS.FF6'), SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:delay, 'SECOND')), t.output = :output
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1 AND t.token = :token - 1 AND EXISTS (
    SELECT 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1 AND c.owner = :owner)
