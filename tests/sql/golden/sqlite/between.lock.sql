SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task INDEXED BY task_open
WHERE state IN (0, 2, 3, 4) AND task.state <= 4 AND task.state <> 1 AND topic = :topic AND identifier >= :low AND identifier < :high
UNION ALL
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task INDEXED BY task_listed
WHERE task.state = 1 AND (task.listed = 1 OR task.token > 0) AND topic = :topic AND identifier >= :low AND identifier < :high
UNION ALL
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM (SELECT looked FROM task_topic WHERE topic = :topic AND looked = 0) CROSS JOIN task INDEXED BY task_ready
WHERE state = 1 AND listed = 0 AND token = 0 AND topic = :topic AND identifier >= :low AND identifier < :high
UNION ALL
SELECT sequence, identifier, input, attempt, token, topic, state, descent, owner, reference, created, polled, completed, due, lease, origin, output, failed FROM task INDEXED BY task_done
WHERE state >= 5 AND topic = :topic AND identifier >= :low AND identifier < :high
ORDER BY identifier, sequence
