UPDATE task t SET
    t.state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, t.descent = GREATEST(t.descent, t.state),
    t.waits = CASE WHEN t.waits IS NOT NULL THEN 1 END,
    t.completed = NULL, t.output = NULL, t.lease = NULL, t.due = NULL
WHERE t.topic = :topic AND t.sequence = :sequence
