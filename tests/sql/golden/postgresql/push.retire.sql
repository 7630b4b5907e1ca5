-- SUPERSEDE
WITH unlocked AS (
    DELETE FROM task_mutex
    WHERE key = ANY(ARRAY(
        SELECT hashtextextended(i, hashtextextended(CAST(%(topic)s AS text), %(salt)s)) FROM unnest(CAST(%(identifiers)s AS text[])) AS i))
),
older AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.identifier = ANY (%(identifiers)s) AND t.state + 0 = 1
    ORDER BY t.sequence
    FOR UPDATE
),
retired AS (
    UPDATE task AS t SET state = 8, late = NULL, descent = greatest(t.descent, t.state) WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM older))
    RETURNING t.sequence, t.awaited, t.on_abort
)
SELECT sequence FROM retired WHERE awaited OR on_abort IS NOT NULL

-- REPLACE
WITH unlocked AS (
    DELETE FROM task_mutex
    WHERE key = ANY(ARRAY(
        SELECT hashtextextended(i, hashtextextended(CAST(%(topic)s AS text), %(salt)s)) FROM unnest(CAST(%(identifiers)s AS text[])) AS i))
),
older AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.identifier = ANY (%(identifiers)s) AND (t.state + 0 = ANY ('{1,2,3,4}') OR t.state >= 5 AND t.state <= 6)
    ORDER BY t.sequence
    FOR UPDATE
),
retired AS (
    UPDATE task AS t SET state = 8, late = NULL, descent = greatest(t.descent, t.state) WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM older))
    RETURNING t.sequence, t.awaited, t.on_abort
)
SELECT sequence FROM retired WHERE awaited OR on_abort IS NOT NULL

-- DELETE
WITH unlocked AS (
    DELETE FROM task_mutex
    WHERE key = ANY(ARRAY(
        SELECT hashtextextended(i, hashtextextended(CAST(%(topic)s AS text), %(salt)s)) FROM unnest(CAST(%(identifiers)s AS text[])) AS i))
),
older AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.identifier = ANY (%(identifiers)s) AND (t.state + 0 = ANY ('{1,2,3,4}') OR t.state >= 5)
    ORDER BY t.sequence
    FOR UPDATE
),
retired AS (
    DELETE FROM task AS t WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM older))
    RETURNING t.sequence, t.awaited, t.on_abort
)
SELECT sequence FROM retired WHERE awaited OR on_abort IS NOT NULL
