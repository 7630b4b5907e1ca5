UPDATE task_topic SET looked = 1 WHERE topic = :topic AND looked = 0
