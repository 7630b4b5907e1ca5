-- COMMITTED
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = json_extract(g.value, '$[0]')
WHERE t.topic = :topic AND t.state = 0 AND t.owner = :owner AND t.token = json_extract(g.value, '$[1]')

-- TRANSACTION
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = json_extract(g.value, '$[0]')
WHERE t.topic = :topic AND t.state = 1 AND t.token = json_extract(g.value, '$[1]') - 1 AND EXISTS (SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = json_extract(g.value, '$[1]') AND c.owner = :owner)
