SELECT DISTINCT d.after_sequence, t.state
FROM task_dependency AS d LEFT JOIN task AS t ON t.topic = %(topic)s AND t.sequence = d.after_sequence
WHERE d.after_topic = %(topic)s AND d.after_sequence BETWEEN %(first)s AND %(last)s AND d.signal = 0
AND (t.state IS NULL OR t.state IN (3, 5, 6, 8))
