SELECT run_topic, run_sequence, after_sequence, signal FROM task_dependency
WHERE after_sequence = ANY (CAST(%(sequences)s AS bigint[])) AND signal <> 1
