SELECT DISTINCT d.after_sequence
FROM task_dependency AS d JOIN task AS t ON t.topic = %(topic)s AND t.sequence = d.after_sequence
WHERE d.after_topic = %(topic)s AND d.after_sequence BETWEEN %(first)s AND %(last)s AND d.signal = 2 AND t.state NOT IN (3, 7, 8)
