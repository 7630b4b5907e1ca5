SELECT 1 + max(coalesce((SELECT max(sequence) FROM task), 0), (SELECT last FROM task_number)), strftime('%Y-%m-%d %H:%M:%f', 'now'), looked FROM task_topic WHERE topic = :topic
