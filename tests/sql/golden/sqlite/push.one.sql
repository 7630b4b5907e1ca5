INSERT INTO task (topic, identifier, input, reference, state, due)
SELECT topic, :identifier, :input, :reference, :state, coalesce(:due, strftime('%Y-%m-%d %H:%M:%f', 'now', :delay))
FROM task_topic WHERE topic = :topic
