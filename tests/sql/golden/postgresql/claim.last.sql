SELECT pg_sequence_last_value('task_sequence')
