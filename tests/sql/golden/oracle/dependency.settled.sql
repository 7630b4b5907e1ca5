SELECT DISTINCT d.after_sequence, t.state
FROM task_dependency d LEFT JOIN task t ON t.topic = :topic AND t.sequence = d.after_sequence
WHERE d.after_topic = :topic AND d.after_sequence BETWEEN :first AND :last AND d.signal = 0
AND (t.state IS NULL OR t.state IN (3, 5, 6, 8))
