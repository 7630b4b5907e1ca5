UPDATE sqlite_sequence SET seq = seq + :number
WHERE name = 'task' AND EXISTS (SELECT 1 FROM task_topic WHERE topic = :topic)
RETURNING seq, strftime('%Y-%m-%d %H:%M:%f', 'now')
