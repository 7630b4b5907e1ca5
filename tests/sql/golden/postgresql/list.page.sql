-- FORWARD all
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD identifier
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND identifier = %(identifier)s AND (state + 0 = ANY('{0,1,2,3,4}') OR state >= 5)
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD reference
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND reference = %(reference)s
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD ACTIVE
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 0
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD READY
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 1
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD EXPIRED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 2
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD FAILED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 3
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD SUSPENDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 4
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD FILTERED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 5
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD SUCCEEDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 6
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD RECREATED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 7
ORDER BY sequence ASC LIMIT %(size)s

-- FORWARD REDUNDANT
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence > %(start)s AND state = 8
ORDER BY sequence ASC LIMIT %(size)s

-- BACKWARD all
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD identifier
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND identifier = %(identifier)s AND (state + 0 = ANY('{0,1,2,3,4}') OR state >= 5)
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD reference
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND reference = %(reference)s
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD ACTIVE
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 0
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD READY
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 1
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD EXPIRED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 2
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD FAILED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 3
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD SUSPENDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 4
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD FILTERED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 5
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD SUCCEEDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 6
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD RECREATED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 7
ORDER BY sequence DESC LIMIT %(size)s

-- BACKWARD REDUNDANT
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND sequence < %(start)s AND state = 8
ORDER BY sequence DESC LIMIT %(size)s
