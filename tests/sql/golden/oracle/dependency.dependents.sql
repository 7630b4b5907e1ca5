SELECT d.run_topic, d.run_sequence FROM task_dependency d
WHERE d.after_sequence = :sequence AND d.after_topic = :topic ORDER BY d.run_topic, d.run_sequence
