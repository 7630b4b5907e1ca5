UPDATE task AS t SET
    owner = %(owner)s, token = t.token + 1, polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = %(sequence)s AND t.state = 0 AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token
