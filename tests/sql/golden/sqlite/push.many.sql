INSERT INTO task (topic, created, sequence, identifier, input, reference, state, due)
VALUES (?, ?, ?, ?, ?, ?, ?, coalesce(?, strftime('%Y-%m-%d %H:%M:%f', ?, ?)))
