-- COMMITTED
SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state = 0 AND t.owner = %(owner)s AND t.token = g.token
        OFFSET 0 FOR UPDATE
    ) AS h

-- TRANSACTION
SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    JOIN unnest(CAST(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') AS bigint[])) AS o (sequence) ON o.sequence = g.sequence
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state = 1 AND t.token = g.token - 1
        OFFSET 0 FOR UPDATE
    ) AS h
