WITH held AS MATERIALIZED (
    SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state = 0 AND t.owner = %(owner)s AND t.token = g.token
        OFFSET 0 FOR NO KEY UPDATE
    ) AS h
)
UPDATE task AS t SET lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM held))
AND (SELECT count(*) FROM held) = %(number)s
