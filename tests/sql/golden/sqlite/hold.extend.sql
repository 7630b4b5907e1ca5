UPDATE task SET lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
FROM json_each(:given) AS g
WHERE task.sequence = json_extract(g.value, '$[0]')
AND :number = (SELECT count(*) FROM (
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = json_extract(g.value, '$[0]')
WHERE t.topic = :topic AND t.state = 0 AND t.owner = :owner AND t.token = json_extract(g.value, '$[1]')
))
