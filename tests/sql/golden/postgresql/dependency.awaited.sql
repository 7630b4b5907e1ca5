SELECT DISTINCT after_sequence FROM task_dependency WHERE after_sequence = ANY (CAST(%(sequences)s AS bigint[])) AND signal <> 1
