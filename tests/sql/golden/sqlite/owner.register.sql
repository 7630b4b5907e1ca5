INSERT INTO task_owner (owner) VALUES (:owner) ON CONFLICT DO NOTHING
