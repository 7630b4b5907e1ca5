MERGE INTO task_topic t USING (SELECT :topic AS topic FROM DUAL) s ON (t.topic = s.topic)
WHEN NOT MATCHED THEN INSERT (topic) VALUES (s.topic)
