MERGE INTO task_activation a USING (SELECT :topic AS topic, :active AS active FROM DUAL) s ON (a.topic = s.topic)
WHEN MATCHED THEN UPDATE SET a.active = s.active
WHEN NOT MATCHED THEN INSERT (topic, active) VALUES (s.topic, s.active)
