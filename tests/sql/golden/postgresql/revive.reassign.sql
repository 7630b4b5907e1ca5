-- FAILED
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = CASE WHEN t.state = 3 THEN t.due END, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))

-- SUSPENDED
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = CASE WHEN t.state = 4 THEN t.due END, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))

-- FILTERED
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = CASE WHEN t.state = 5 THEN t.due END, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))

-- SUCCEEDED
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = CASE WHEN t.state = 6 THEN t.due END, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))
