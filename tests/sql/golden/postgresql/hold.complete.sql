-- COMMITTED
WITH held AS MATERIALIZED (
    SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state = 0 AND t.owner = %(owner)s AND t.token = g.token
        OFFSET 0 FOR UPDATE
    ) AS h
)
UPDATE task AS t SET state = CAST((CAST(%(decisions)s AS jsonb) -> CAST(t.sequence AS text) ->> 0) AS smallint), output = (CAST(%(decisions)s AS jsonb) -> CAST(t.sequence AS text) ->> 1), completed = statement_timestamp(), due = coalesce(CAST((CAST(%(decisions)s AS jsonb) -> CAST(t.sequence AS text) ->> 2) AS timestamptz), statement_timestamp() + CAST((CAST(%(decisions)s AS jsonb) -> CAST(t.sequence AS text) ->> 3) AS interval))
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM held))
AND (SELECT count(*) FROM held) = %(number)s

-- TRANSACTION
WITH held AS MATERIALIZED (
    SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    JOIN unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS o (claim) ON o.claim = concat(g.sequence, ':', g.token, ':', hashtextextended(CAST(%(owner)s AS text), 0))
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state = 1 AND t.token = g.token - 1
        OFFSET 0 FOR UPDATE
    ) AS h
)
UPDATE task AS t SET owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, polled = statement_timestamp(), late = NULL, state = CAST((CAST(%(decisions)s AS jsonb) -> CAST(t.sequence AS text) ->> 0) AS smallint), output = (CAST(%(decisions)s AS jsonb) -> CAST(t.sequence AS text) ->> 1), completed = statement_timestamp(), due = coalesce(CAST((CAST(%(decisions)s AS jsonb) -> CAST(t.sequence AS text) ->> 2) AS timestamptz), statement_timestamp() + CAST((CAST(%(decisions)s AS jsonb) -> CAST(t.sequence AS text) ->> 3) AS interval))
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM held))
AND (SELECT count(*) FROM held) = %(number)s
