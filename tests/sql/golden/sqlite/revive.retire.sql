UPDATE task SET state = 7, descent = max(descent, state)
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
