INSERT INTO task_dependency (run_topic, run_sequence, after_topic, after_sequence)
SELECT :topic, :sequence, :after_topic, :after FROM DUAL
WHERE NOT EXISTS (SELECT 1 FROM task_dependency d WHERE d.run_sequence = :sequence AND d.after_sequence = :after)
