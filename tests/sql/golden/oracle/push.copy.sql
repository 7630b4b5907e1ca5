INSERT INTO task (topic, sequence, identifier, reference, origin, on_abort, failed, state, waits, input)
SELECT
    t.topic, :drawn, t.identifier, t.reference, t.sequence, t.on_abort, t.failed,
    CASE WHEN t.waits IS NOT NULL AND :state = 1 THEN 4 ELSE :state END,
    CASE WHEN t.waits IS NOT NULL AND :state = 1 THEN 1 END, t.input
FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence
