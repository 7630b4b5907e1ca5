UPDATE task AS t SET state = 3, descent = greatest(t.descent, t.state), output = %(message)s, completed = statement_timestamp()
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND t.state = 4
