-- find
SELECT t.topic, t.sequence FROM task t
WHERE CASE WHEN t.state = 0 THEN t.owner END IS NOT NULL AND (
    t.lease <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
    OR t.owner <> :owner AND NOT EXISTS (
        SELECT 1 FROM task_owner o WHERE o.owner = t.owner AND o.heartbeat >= SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:timeout, 'SECOND'))
)
FOR UPDATE SKIP LOCKED

-- change
UPDATE task t SET t.state = 2 WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 0
