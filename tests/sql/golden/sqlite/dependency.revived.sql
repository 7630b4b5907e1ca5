SELECT DISTINCT d.after_sequence
FROM task_dependency AS d INDEXED BY task_dependency_after CROSS JOIN task AS t ON t.sequence = d.after_sequence
WHERE d.after_sequence BETWEEN :first AND :last AND d.after_topic = :topic AND d.signal = 2 AND t.state NOT IN (3, 7, 8)
