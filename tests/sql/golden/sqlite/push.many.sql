INSERT INTO task (topic, created, sequence, identifier, input, reference, state, due, listed)
VALUES (?, ?, ?, ?, ?, ?, ?, coalesce(?, strftime('%Y-%m-%d %H:%M:%f', ?, ?)), ?)
