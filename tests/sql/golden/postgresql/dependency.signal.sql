UPDATE task_dependency AS d SET signal = %(signal)s
FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(afters)s AS bigint[])) AS g (run, after)
WHERE d.run_sequence = g.run AND d.after_sequence = g.after AND d.signal <> %(signal)s
