DELETE FROM task_topic WHERE topic = :topic
