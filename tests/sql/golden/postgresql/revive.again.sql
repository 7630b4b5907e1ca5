-- EXPIRED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND t.state = 2
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FAILED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND t.state = 3
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUSPENDED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND t.state = 4
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FILTERED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND t.state = 5
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUCCEEDED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND t.state = 6
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED
