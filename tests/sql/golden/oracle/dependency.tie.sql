UPDATE task t SET
    t.state = CASE WHEN t.state = 1 AND :waits IS NOT NULL THEN 4 ELSE t.state END,
    t.waits = COALESCE(CAST(:waits AS NUMBER(1)), t.waits),
    t.on_abort = COALESCE(CAST(:on_abort AS NUMBER(1)), t.on_abort)
WHERE t.topic = :topic AND t.sequence = :sequence
