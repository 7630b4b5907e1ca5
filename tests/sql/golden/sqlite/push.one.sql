INSERT INTO task (sequence, topic, identifier, input, reference, state, due, listed)
SELECT 1 + max(coalesce((SELECT max(sequence) FROM task), 0), (SELECT last FROM task_number)), topic, :identifier, :input, :reference, :state, coalesce(:due, strftime('%Y-%m-%d %H:%M:%f', 'now', :delay)), :state <> 1
FROM task_topic WHERE topic = :topic
