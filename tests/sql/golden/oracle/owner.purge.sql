DELETE FROM task_owner o
WHERE o.owner <> :owner AND o.heartbeat < SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:timeout, 'SECOND')
AND NOT EXISTS (SELECT 1 FROM task t WHERE t.owner = o.owner)
