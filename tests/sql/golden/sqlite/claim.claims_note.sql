REPLACE INTO temp.task_claim (era, topic, owner, sequence, identifier, token)
SELECT :era, :topic, :owner, t.sequence, t.identifier, t.token + 1
FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = g.value
