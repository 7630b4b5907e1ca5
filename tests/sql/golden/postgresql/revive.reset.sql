UPDATE task AS t SET
    state = 1, descent = greatest(t.descent, t.state), late = t.sequence,
    completed = NULL, output = NULL, lease = NULL, due = NULL
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))
RETURNING (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
