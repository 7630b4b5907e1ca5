SELECT d.after_topic, d.after_sequence FROM task_dependency d
WHERE d.run_sequence = :sequence AND d.run_topic = :topic ORDER BY d.after_topic, d.after_sequence
