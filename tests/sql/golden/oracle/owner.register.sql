MERGE INTO task_owner o USING (SELECT :owner AS owner FROM DUAL) s ON (o.owner = s.owner)
WHEN NOT MATCHED THEN INSERT (owner) VALUES (s.owner)
