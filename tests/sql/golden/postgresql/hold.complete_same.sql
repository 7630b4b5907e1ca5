-- COMMITTED
WITH held AS MATERIALIZED (
    SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state = 0 AND t.owner = %(owner)s AND t.token = g.token
        AND (t.awaited IS NULL OR current_setting('transaction_isolation') IN ('read committed', 'read uncommitted'))
        OFFSET 0 FOR NO KEY UPDATE
    ) AS h
),
decided AS (
UPDATE task AS t SET state = CAST(%(state)s AS smallint), output = %(output)s, completed = statement_timestamp(), due = coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval))
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM held))
AND (SELECT count(*) FROM held) = %(number)s RETURNING t.sequence, t.awaited
)
SELECT count(*), array_agg(sequence) FILTER (WHERE awaited) FROM decided

-- TRANSACTION
WITH held AS MATERIALIZED (
    SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    JOIN unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS o (claim) ON o.claim = concat(g.sequence, ':', g.token, ':', hashtextextended(CAST(%(owner)s AS text), 0))
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state BETWEEN 1 AND 1 AND t.token = g.token - 1
        AND (t.awaited IS NULL OR current_setting('transaction_isolation') IN ('read committed', 'read uncommitted'))
        OFFSET 0 FOR NO KEY UPDATE
    ) AS h
),
decided AS (
UPDATE task AS t SET owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, polled = statement_timestamp(), late = NULL, state = CAST(%(state)s AS smallint), output = %(output)s, completed = statement_timestamp(), due = coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval))
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM held))
AND (SELECT count(*) FROM held) = %(number)s RETURNING t.sequence, t.awaited
)
SELECT count(*), array_agg(sequence) FILTER (WHERE awaited) FROM decided
