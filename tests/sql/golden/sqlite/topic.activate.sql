INSERT INTO task_activation (topic, active) VALUES (:topic, :active)
ON CONFLICT (topic) DO UPDATE SET active = excluded.active
