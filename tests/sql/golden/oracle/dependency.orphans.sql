DELETE FROM task_dependency d
WHERE d.run_topic = :topic AND d.run_sequence BETWEEN :first AND :last
AND NOT EXISTS (SELECT 1 FROM task t WHERE t.topic = :topic AND t.sequence = d.run_sequence)
