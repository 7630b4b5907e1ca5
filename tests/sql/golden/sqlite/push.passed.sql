UPDATE task_topic SET last = NULL WHERE last < (SELECT max(sequence) FROM task)
