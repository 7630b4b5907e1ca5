SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task
WHERE topic = %(topic)s AND identifier >= %(low)s AND identifier < %(high)s
AND (state + 0 = ANY ('{0,1,2,3,4}') OR state >= 5)
ORDER BY identifier, sequence
