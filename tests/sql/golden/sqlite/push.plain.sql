INSERT INTO task (topic, listed, identifier, input)
SELECT topic, looked, ?, ? FROM task_topic WHERE topic = ? AND last IS NULL
