SELECT min(n), max(n), CASE WHEN max(n) - min(n) >= count(n) THEN array_agg(n) END, (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
FROM (SELECT nextval('task_sequence') AS n FROM generate_series(1, %(number)s) WHERE (SELECT pg_current_xact_id() IS NOT NULL AND task_known(%(topic)s))) AS drawn
