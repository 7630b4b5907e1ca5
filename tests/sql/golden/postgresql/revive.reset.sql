UPDATE task AS t SET
    state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, descent = greatest(t.descent, t.state),
    late = CASE WHEN t.waits IS NULL THEN t.sequence END, waits = CASE WHEN t.waits IS NOT NULL THEN 1 END,
    completed = NULL, output = NULL, lease = NULL, due = NULL
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))
RETURNING (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
