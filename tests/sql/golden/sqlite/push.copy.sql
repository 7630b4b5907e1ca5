INSERT INTO task (topic, sequence, identifier, input, reference, state, origin)
SELECT t.topic, :first + g.key, t.identifier, t.input, t.reference, json_extract(g.value, '$[1]'), t.sequence
FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = json_extract(g.value, '$[0]')
RETURNING origin, sequence
