SELECT sequence, identifier, state, waits, on_abort, due IS NOT NULL FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
ORDER BY sequence
