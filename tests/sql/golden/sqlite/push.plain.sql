INSERT INTO task (topic, identifier, input)
SELECT topic, ?, ? FROM task_topic WHERE topic = ?
