UPDATE task_dependency AS d SET after_sequence = g.copy
FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(others)s AS bigint[])) AS g (sequence, copy)
WHERE d.after_sequence = g.sequence AND d.signal = 0
