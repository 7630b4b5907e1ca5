UPDATE task_topic SET listed = (SELECT max(sequence) FROM task) WHERE topic = :topic
