SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND t.state BETWEEN 2 AND 6
ORDER BY t.sequence
FOR UPDATE
