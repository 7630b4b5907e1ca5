SELECT 1 FROM task_topic WHERE topic = :topic
