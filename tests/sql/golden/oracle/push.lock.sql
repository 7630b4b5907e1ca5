INSERT INTO task_mutex (hash) VALUES (:hash)
