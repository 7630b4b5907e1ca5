SELECT array_agg(nextval('task_sequence')), (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
FROM generate_series(1, %(number)s)
WHERE (SELECT pg_current_xact_id() IS NOT NULL AND task_known(%(topic)s))
