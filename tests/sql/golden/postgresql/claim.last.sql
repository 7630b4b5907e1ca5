SELECT CASE
    WHEN has_sequence_privilege('task_sequence', 'USAGE') THEN coalesce(pg_sequence_last_value('task_sequence'), 0)
END
