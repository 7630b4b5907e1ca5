-- COMMITTED
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t NOT INDEXED ON t.sequence = g.key
WHERE t.topic = :topic AND t.state = 0 AND t.owner = :owner AND t.token = g.value

-- TRANSACTION
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t NOT INDEXED ON t.sequence = g.key
WHERE t.topic = :topic AND t.state = 1 AND t.token = g.value - 1 AND EXISTS (SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = g.value AND c.owner = :owner)
