UPDATE task t SET
    t.state = CASE WHEN t.state = 4 AND t.waits = 1 AND (t.due IS NULL OR t.due <= SYS_EXTRACT_UTC(SYSTIMESTAMP)) THEN 1 ELSE t.state END, t.waits = NULL,
    t.failed = (
        SELECT NULLIF(COUNT(*), 0) FROM task_dependency d WHERE d.run_sequence = t.sequence AND d.signal = 2)
WHERE t.topic = :topic AND t.sequence = :sequence AND t.waits IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM task_dependency d WHERE CASE WHEN d.signal = 0 THEN d.run_sequence END = t.sequence)
