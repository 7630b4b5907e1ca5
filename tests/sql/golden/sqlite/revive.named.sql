SELECT sequence, identifier, input, attempt, token FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state BETWEEN 2 AND 6
