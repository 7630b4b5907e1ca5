INSERT INTO task_dependency (run_topic, run_sequence, after_topic, after_sequence)
SELECT %(topic)s, g.run, %(after_topic)s, g.after
FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(afters)s AS bigint[])) AS g (run, after)
ON CONFLICT DO NOTHING
