SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = :topic AND identifier >= :low AND identifier < :high
ORDER BY identifier, sequence
