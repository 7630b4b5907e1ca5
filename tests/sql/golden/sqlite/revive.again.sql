-- EXPIRED
SELECT sequence, identifier, input, attempt, token FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state = 2

-- FAILED
SELECT sequence, identifier, input, attempt, token FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state = 3

-- SUSPENDED
SELECT sequence, identifier, input, attempt, token FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state = 4

-- FILTERED
SELECT sequence, identifier, input, attempt, token FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state = 5

-- SUCCEEDED
SELECT sequence, identifier, input, attempt, token FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state = 6
