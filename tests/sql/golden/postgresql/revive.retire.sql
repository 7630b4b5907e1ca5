UPDATE task AS t SET state = 7, descent = greatest(t.descent, t.state)
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))
