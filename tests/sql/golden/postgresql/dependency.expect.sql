UPDATE task AS t SET awaited = true
WHERE t.topic = %(topic)s AND t.sequence = (
    SELECT w.sequence FROM task AS w
    WHERE w.topic = %(topic)s AND w.sequence = %(sequence)s AND w.awaited IS NULL FOR UPDATE SKIP LOCKED)
RETURNING CASE WHEN t.state = 1 THEN (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s) END
