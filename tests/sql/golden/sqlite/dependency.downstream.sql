SELECT run_topic, run_sequence, after_sequence, signal FROM task_dependency INDEXED BY task_dependency_after
WHERE signal <> 1 AND after_sequence IN (
    WITH RECURSIVE reached (sequence) AS (
        SELECT value FROM json_each(:given)
        UNION
        SELECT d.run_sequence FROM reached AS r CROSS JOIN task_dependency AS d INDEXED BY task_dependency_after
            ON d.after_sequence = r.sequence AND d.signal <> 1
    )
    SELECT sequence FROM reached
)
