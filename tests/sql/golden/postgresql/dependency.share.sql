SELECT t.sequence FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))
ORDER BY t.sequence
FOR KEY SHARE
