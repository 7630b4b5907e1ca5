-- FORWARD all
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start
ORDER BY sequence ASC LIMIT :size

-- FORWARD identifier
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND identifier = :identifier
ORDER BY sequence ASC LIMIT :size

-- FORWARD reference
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND reference = :reference
ORDER BY sequence ASC LIMIT :size

-- FORWARD ACTIVE
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 0 AND task.state <= 4 AND task.state <> 1
ORDER BY sequence ASC LIMIT :size

-- FORWARD READY
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 1
ORDER BY sequence ASC LIMIT :size

-- FORWARD EXPIRED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 2 AND state > 1 AND state <> 6
ORDER BY sequence ASC LIMIT :size

-- FORWARD FAILED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 3 AND state > 1 AND state <> 6
ORDER BY sequence ASC LIMIT :size

-- FORWARD SUSPENDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 4 AND state > 1 AND state <> 6
ORDER BY sequence ASC LIMIT :size

-- FORWARD FILTERED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 5 AND state > 1 AND state <> 6
ORDER BY sequence ASC LIMIT :size

-- FORWARD SUCCEEDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 6
ORDER BY sequence ASC LIMIT :size

-- FORWARD RECREATED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 7 AND state > 1 AND state <> 6
ORDER BY sequence ASC LIMIT :size

-- FORWARD REDUNDANT
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence > :start AND state = 8 AND state > 1 AND state <> 6
ORDER BY sequence ASC LIMIT :size

-- BACKWARD all
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start
ORDER BY sequence DESC LIMIT :size

-- BACKWARD identifier
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND identifier = :identifier
ORDER BY sequence DESC LIMIT :size

-- BACKWARD reference
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND reference = :reference
ORDER BY sequence DESC LIMIT :size

-- BACKWARD ACTIVE
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 0 AND task.state <= 4 AND task.state <> 1
ORDER BY sequence DESC LIMIT :size

-- BACKWARD READY
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 1
ORDER BY sequence DESC LIMIT :size

-- BACKWARD EXPIRED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 2 AND state > 1 AND state <> 6
ORDER BY sequence DESC LIMIT :size

-- BACKWARD FAILED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 3 AND state > 1 AND state <> 6
ORDER BY sequence DESC LIMIT :size

-- BACKWARD SUSPENDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 4 AND state > 1 AND state <> 6
ORDER BY sequence DESC LIMIT :size

-- BACKWARD FILTERED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 5 AND state > 1 AND state <> 6
ORDER BY sequence DESC LIMIT :size

-- BACKWARD SUCCEEDED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 6
ORDER BY sequence DESC LIMIT :size

-- BACKWARD RECREATED
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 7 AND state > 1 AND state <> 6
ORDER BY sequence DESC LIMIT :size

-- BACKWARD REDUNDANT
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND sequence < :start AND state = 8 AND state > 1 AND state <> 6
ORDER BY sequence DESC LIMIT :size
