SELECT run_topic, run_sequence FROM task_dependency
WHERE after_sequence = :sequence AND after_topic = :topic ORDER BY run_topic, run_sequence
