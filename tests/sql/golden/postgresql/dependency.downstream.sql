WITH RECURSIVE reached (sequence) AS (
    SELECT unnest(CAST(%(sequences)s AS bigint[]))
    UNION
    SELECT d.run_sequence FROM reached AS r JOIN task_dependency AS d ON d.after_sequence = r.sequence AND d.signal <> 1
)
SELECT d.run_topic, d.run_sequence, d.after_sequence, d.signal
FROM reached AS r JOIN task_dependency AS d ON d.after_sequence = r.sequence AND d.signal <> 1
