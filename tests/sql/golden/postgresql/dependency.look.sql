SELECT t.sequence, t.identifier, t.state, t.waits, t.on_abort, t.due IS NOT NULL FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))
ORDER BY t.sequence
