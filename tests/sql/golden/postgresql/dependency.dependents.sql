SELECT run_topic, run_sequence FROM task_dependency
WHERE after_sequence = %(sequence)s AND after_topic = %(topic)s ORDER BY run_topic, run_sequence
