DELETE FROM task_dependency AS d
WHERE d.run_topic = %(topic)s AND d.run_sequence BETWEEN %(first)s AND %(last)s
AND NOT EXISTS (SELECT FROM task AS t WHERE t.topic = %(topic)s AND t.sequence = d.run_sequence)
