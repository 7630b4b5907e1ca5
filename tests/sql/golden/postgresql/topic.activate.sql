INSERT INTO task_activation (topic, active) VALUES (%(topic)s, %(active)s)
ON CONFLICT (topic) DO UPDATE SET active = excluded.active
RETURNING (SELECT pg_notify('task_notification', 'ACTIVATION ' || md5(%(topic)s)) WHERE %(notify)s)
