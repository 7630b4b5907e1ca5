SELECT after_topic, after_sequence FROM task_dependency
WHERE run_sequence = %(sequence)s AND run_topic = %(topic)s ORDER BY after_topic, after_sequence
