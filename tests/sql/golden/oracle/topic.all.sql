SELECT topic FROM task_topic
