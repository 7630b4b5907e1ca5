-- EXPIRED FAILED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- EXPIRED FAILED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- EXPIRED SUSPENDED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- EXPIRED SUSPENDED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- EXPIRED FILTERED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- EXPIRED FILTERED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- EXPIRED SUCCEEDED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- EXPIRED SUCCEEDED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FAILED SUSPENDED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 3 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FAILED SUSPENDED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 3 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FAILED FILTERED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 3 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FAILED FILTERED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 3 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FAILED SUCCEEDED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 3 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FAILED SUCCEEDED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 3 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUSPENDED FAILED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 4 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUSPENDED FAILED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 4 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUSPENDED FILTERED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 4 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUSPENDED FILTERED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 4 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUSPENDED SUCCEEDED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 4 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUSPENDED SUCCEEDED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 4 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FILTERED FAILED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 5 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FILTERED FAILED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 5 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FILTERED SUSPENDED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 5 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FILTERED SUSPENDED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 5 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FILTERED SUCCEEDED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 5 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FILTERED SUCCEEDED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 5 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 6
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUCCEEDED FAILED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 6 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUCCEEDED FAILED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 6 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 3
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUCCEEDED SUSPENDED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 6 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUCCEEDED SUSPENDED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 6 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 4
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUCCEEDED FILTERED False
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 6 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUCCEEDED FILTERED True
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 6 AND t.sequence BETWEEN %(first)s AND %(last)s
    ORDER BY t.sequence
    FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET descent = greatest(t.descent, t.state), completed = coalesce(t.completed, statement_timestamp()),
    output = CASE
        WHEN CAST(%(message)s AS text) IS NULL THEN t.output ELSE concat_ws(E'\n', t.output, CAST(%(message)s AS text))
    END, due = NULL, state = 5
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))
