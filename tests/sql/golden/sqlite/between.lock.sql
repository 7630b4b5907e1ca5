SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task INDEXED BY task_open
WHERE state IN (0, 1, 2, 3, 4) AND state <= 4 AND topic = :topic AND identifier >= :low AND identifier < :high
UNION ALL
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task INDEXED BY task_done
WHERE state >= 5 AND topic = :topic AND identifier >= :low AND identifier < :high
ORDER BY identifier, sequence
