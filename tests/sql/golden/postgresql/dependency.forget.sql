DELETE FROM task_dependency WHERE run_sequence = ANY (CAST(%(sequences)s AS bigint[]))
