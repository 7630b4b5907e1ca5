UPDATE task SET
    state = 1, descent = max(descent, state), completed = NULL, output = NULL, lease = NULL, due = NULL
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
