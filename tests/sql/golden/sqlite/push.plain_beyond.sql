INSERT INTO task (sequence, topic, listed, identifier, input)
SELECT 1 + max(coalesce((SELECT max(sequence) FROM task), 0), (SELECT last FROM task_number)), topic, looked, ?, ? FROM task_topic WHERE topic = ?
