-- EXPIRED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s
FOR UPDATE SKIP LOCKED

-- FAILED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 3 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s
FOR UPDATE SKIP LOCKED

-- SUSPENDED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 4 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s
FOR UPDATE SKIP LOCKED

-- FILTERED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 5 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s
FOR UPDATE SKIP LOCKED

-- SUCCEEDED
SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 6 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s
FOR UPDATE SKIP LOCKED
