DELETE FROM task_activation WHERE topic = :topic
