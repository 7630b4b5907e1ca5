-- ACTIVE
UPDATE task SET
    state = 0, owner = :owner, token = token + 1, attempt = CASE state WHEN 0 THEN attempt ELSE attempt + 1 END,
    descent = max(descent, state), polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence = :sequence AND topic = :topic AND state IN (0) AND waits IS NULL
AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
RETURNING sequence, identifier, input, attempt, token, failed

-- ACTIVE+READY+SUSPENDED
UPDATE task SET
    state = 0, owner = :owner, token = token + 1, attempt = CASE state WHEN 0 THEN attempt ELSE attempt + 1 END,
    descent = max(descent, state), polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence = :sequence AND topic = :topic AND state IN (0, 1, 4) AND waits IS NULL
AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
RETURNING sequence, identifier, input, attempt, token, failed
