INSERT INTO task (topic, created, listed, sequence, identifier, input, reference, state, due)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, strftime('%Y-%m-%d %H:%M:%f', ?, ?)))
