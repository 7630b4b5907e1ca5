UPDATE task SET
    waits = NULL, state = CASE WHEN state = 4 AND waits = 1 AND (due IS NULL OR due <= strftime('%Y-%m-%d %H:%M:%f', 'now')) THEN 1 ELSE state END,
    failed = (SELECT nullif(count(*), 0) FROM task_dependency WHERE run_sequence = task.sequence AND signal = 2)
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND waits IS NOT NULL
AND NOT EXISTS (
    SELECT 1 FROM task_dependency INDEXED BY task_dependency_waiting WHERE run_sequence = task.sequence AND signal = 0)
