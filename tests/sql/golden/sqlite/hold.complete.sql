-- COMMITTED
UPDATE task SET state = json_extract(g.value, '$[1]'), output = json_extract(g.value, '$[2]'), completed = strftime('%Y-%m-%d %H:%M:%f', 'now'), due = coalesce(json_extract(g.value, '$[3]'), strftime('%Y-%m-%d %H:%M:%f', 'now', json_extract(g.value, '$[4]')))
FROM json_each(:given) AS g
WHERE task.sequence = g.key
AND :number = (SELECT count(*) FROM (
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t NOT INDEXED ON t.sequence = g.key
WHERE t.topic = :topic AND t.state = 0 AND t.owner = :owner AND t.token = json_extract(g.value, '$[0]')
))

-- TRANSACTION
UPDATE task SET owner = :owner, attempt = attempt + 1, token = token + 1, polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), state = json_extract(g.value, '$[1]'), output = json_extract(g.value, '$[2]'), completed = strftime('%Y-%m-%d %H:%M:%f', 'now'), due = coalesce(json_extract(g.value, '$[3]'), strftime('%Y-%m-%d %H:%M:%f', 'now', json_extract(g.value, '$[4]')))
FROM json_each(:given) AS g
WHERE task.sequence = g.key
AND :number = (SELECT count(*) FROM (
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t NOT INDEXED ON t.sequence = g.key
WHERE t.topic = :topic AND t.state = 1 AND t.token = json_extract(g.value, '$[0]') - 1 AND EXISTS (SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = json_extract(g.value, '$[0]') AND c.owner = :owner)
))
