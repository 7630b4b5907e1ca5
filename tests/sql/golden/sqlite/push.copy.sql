INSERT INTO task (topic, sequence, identifier, input, reference, origin, on_abort, failed, state, waits)
SELECT
    t.topic, :first + g.key, t.identifier, t.input, t.reference, t.sequence, t.on_abort, t.failed,
    CASE WHEN t.waits IS NOT NULL AND json_extract(g.value, '$[1]') = 1 THEN 4 ELSE json_extract(g.value, '$[1]') END,
    CASE WHEN t.waits IS NOT NULL AND json_extract(g.value, '$[1]') = 1 THEN 1 END
FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = json_extract(g.value, '$[0]')
RETURNING origin, sequence
