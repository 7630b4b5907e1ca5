INSERT INTO task (topic, sequence, identifier, input, reference, state, due)
SELECT
    CAST(%(topic)s AS text), nextval('task_sequence'), %(identifier)s, %(input)s, %(reference)s, CAST(%(state)s AS smallint),
    coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval))
WHERE (SELECT pg_current_xact_id() IS NOT NULL AND task_known(%(topic)s))
RETURNING sequence, (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
