INSERT INTO task (topic, sequence, identifier, reference, state, origin, input)
SELECT t.topic, :drawn, t.identifier, t.reference, :state, t.sequence, t.input FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence
