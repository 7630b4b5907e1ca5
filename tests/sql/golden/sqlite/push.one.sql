INSERT INTO task (sequence, topic, listed, identifier, input, reference, state, due)
SELECT
    1 + max(coalesce((SELECT max(sequence) FROM task), 0), (SELECT last FROM task_number)), topic, looked OR :state <> 1, :identifier, :input, :reference, :state, coalesce(:due, strftime('%Y-%m-%d %H:%M:%f', 'now', :delay))
FROM task_topic WHERE topic = :topic
