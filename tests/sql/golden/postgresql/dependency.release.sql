UPDATE task AS t SET
    waits = NULL, state = CASE WHEN t.state = 4 AND t.waits = 1 AND (t.due IS NULL OR t.due <= statement_timestamp()) THEN 1 ELSE t.state END,
    late = CASE WHEN t.state = 4 AND t.waits = 1 AND (t.due IS NULL OR t.due <= statement_timestamp()) THEN t.sequence ELSE t.late END,
    failed = (
        SELECT nullif(count(*), 0) FROM task_dependency AS d WHERE d.run_sequence = t.sequence AND d.signal = 2)
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND t.waits IS NOT NULL
AND (SELECT 1 FROM task_dependency AS d WHERE d.run_sequence = t.sequence AND d.signal = 0 LIMIT 1) IS NULL
RETURNING (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
