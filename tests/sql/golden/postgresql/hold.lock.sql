-- COMMITTED
SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state = 0 AND t.owner = %(owner)s AND t.token = g.token
        OFFSET 0 FOR NO KEY UPDATE
    ) AS h

-- TRANSACTION
SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    JOIN unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS o (claim) ON o.claim = concat(g.sequence, ':', g.token, ':', hashtextextended(CAST(%(owner)s AS text), 0))
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state BETWEEN 1 AND 1 AND t.token = g.token - 1
        OFFSET 0 FOR NO KEY UPDATE
    ) AS h
