UPDATE task_dependency AS d SET run_sequence = g.copy
FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(others)s AS bigint[])) AS g (sequence, copy)
WHERE d.run_sequence = g.sequence
