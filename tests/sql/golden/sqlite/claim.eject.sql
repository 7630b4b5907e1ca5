UPDATE task SET owner = :owner, token = token + 1, polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence = :sequence AND topic = :topic AND state = 0
AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
RETURNING sequence, identifier, input, attempt, token
