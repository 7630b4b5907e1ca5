SELECT DISTINCT d.after_sequence
FROM task_dependency d JOIN task t ON t.topic = :topic AND t.sequence = d.after_sequence
WHERE d.after_topic = :topic AND d.after_sequence BETWEEN :first AND :last AND d.signal = 2 AND t.state NOT IN (3, 7, 8)
