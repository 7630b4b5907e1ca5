SELECT min(due) FROM task INDEXED BY task_due WHERE topic = :topic AND state = 4 AND due IS NOT NULL AND waits IS NULL
