WITH due AS MATERIALIZED (
    SELECT sequence FROM task
    WHERE topic = %(topic)s AND state = 4 AND due <= statement_timestamp() AND waits IS NULL
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE task AS t SET state = 1, late = t.sequence
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM due))
RETURNING (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
