INSERT INTO task (topic, sequence, identifier, input, reference, state, due)
SELECT
    t.topic, nextval('task_sequence'), %(identifier)s, %(input)s, %(reference)s, CAST(%(state)s AS smallint),
    coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval))
FROM task_topic AS t
WHERE t.topic = %(topic)s AND pg_current_xact_id() IS NOT NULL
RETURNING sequence, (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
