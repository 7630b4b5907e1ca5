SELECT DISTINCT d.after_sequence, t.state
FROM task_dependency AS d INDEXED BY task_dependency_after
LEFT JOIN task AS t ON t.sequence = d.after_sequence AND t.topic = :topic
WHERE d.after_sequence BETWEEN :first AND :last AND d.after_topic = :topic AND d.signal = 0
AND (t.state IS NULL OR t.state IN (3, 5, 6, 8))
