UPDATE task SET lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (SELECT key FROM json_each(:given))
AND :number = (SELECT count(*) FROM (
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t NOT INDEXED ON t.sequence = g.key
WHERE t.topic = :topic AND t.state = 0 AND t.owner = :owner AND t.token = g.value
))
