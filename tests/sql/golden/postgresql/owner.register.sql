INSERT INTO task_owner (owner) VALUES (%(owner)s) ON CONFLICT DO NOTHING
