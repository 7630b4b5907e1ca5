-- FORWARD all
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD identifier
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND identifier = :identifier
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD reference
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND reference = :reference
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD ACTIVE
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 0
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD READY
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 1
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD EXPIRED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 2
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD FAILED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 3
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD SUSPENDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 4
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD FILTERED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 5
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD SUCCEEDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 6
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD RECREATED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 7
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- FORWARD REDUNDANT
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :beyond AND state = 8
ORDER BY sequence ASC FETCH FIRST :most ROWS ONLY

-- BACKWARD all
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD identifier
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND identifier = :identifier
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD reference
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND reference = :reference
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD ACTIVE
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 0
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD READY
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 1
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD EXPIRED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 2
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD FAILED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 3
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD SUSPENDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 4
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD FILTERED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 5
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD SUCCEEDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 6
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD RECREATED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 7
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY

-- BACKWARD REDUNDANT
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :beyond AND state = 8
ORDER BY sequence DESC FETCH FIRST :most ROWS ONLY
