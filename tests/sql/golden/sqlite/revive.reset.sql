UPDATE task SET
    state = CASE WHEN waits IS NULL THEN 1 ELSE 4 END, waits = CASE WHEN waits IS NOT NULL THEN 1 END,
    descent = max(descent, state), completed = NULL, output = NULL, lease = NULL, due = NULL
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
