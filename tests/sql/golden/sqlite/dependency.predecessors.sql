SELECT after_topic, after_sequence FROM task_dependency
WHERE run_sequence = :sequence AND run_topic = :topic ORDER BY after_topic, after_sequence
