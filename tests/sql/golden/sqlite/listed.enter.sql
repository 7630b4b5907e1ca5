UPDATE task INDEXED BY task_ready SET listed = 1 WHERE topic = :topic AND state = 1 AND listed = 0 AND token = 0
