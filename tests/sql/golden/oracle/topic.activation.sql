SELECT active FROM task_activation WHERE topic = :topic
