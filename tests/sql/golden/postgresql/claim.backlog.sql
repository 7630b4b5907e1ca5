SELECT t.sequence, t.identifier FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 1
AND t.sequence + 0 >= CAST(%(bound)s AS bigint) AND t.sequence + 0 < CAST(%(settled)s AS bigint)
ORDER BY t.sequence + 0 LIMIT %(most)s
