SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY(%(sequences)s) AND t.state BETWEEN 2 AND 6
ORDER BY t.sequence
FOR UPDATE
