UPDATE task t SET
    t.state = 1, t.descent = GREATEST(t.descent, t.state),
    t.completed = NULL, t.output = NULL, t.lease = NULL, t.due = NULL
WHERE t.topic = :topic AND t.sequence = :sequence
