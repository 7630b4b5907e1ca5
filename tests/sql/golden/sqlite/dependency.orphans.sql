DELETE FROM task_dependency
WHERE run_sequence BETWEEN :first AND :last AND run_topic = :topic
AND NOT EXISTS (SELECT 1 FROM task WHERE sequence = run_sequence)
