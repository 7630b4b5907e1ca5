-- SINGULAR
WITH unlocked AS (
    DELETE FROM task_mutex
    WHERE key = ANY(ARRAY(
        SELECT hashtextextended(i, hashtextextended(CAST(%(topic)s AS text), %(salt)s)) FROM unnest(CAST(%(identifiers)s AS text[])) AS i))
),
judged AS MATERIALIZED (
    SELECT m.identifier, bool_and((
        SELECT 1 FROM task AS t
        WHERE t.topic = %(topic)s AND t.state + 0 = ANY('{4}') AND t.identifier = m.identifier LIMIT 1
    ) IS NOT NULL) OVER (PARTITION BY m.number) AS complete
    FROM unnest(CAST(%(groups)s AS integer[]), CAST(%(identifiers)s AS text[])) AS m (number, identifier)
),
joined AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state + 0 = 4 AND t.identifier = ANY (
        ARRAY(SELECT DISTINCT identifier FROM judged WHERE complete))
    ORDER BY t.sequence
    FOR NO KEY UPDATE
)
UPDATE task AS t SET
    state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, due = NULL,
    late = CASE WHEN t.waits IS NULL THEN t.sequence END, waits = CASE WHEN t.waits IS NOT NULL THEN 1 END
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM joined))
RETURNING t.identifier, (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)

-- ETERNAL
WITH unlocked AS (
    DELETE FROM task_mutex
    WHERE key = ANY(ARRAY(
        SELECT hashtextextended(i, hashtextextended(CAST(%(topic)s AS text), %(salt)s)) FROM unnest(CAST(%(identifiers)s AS text[])) AS i))
),
judged AS MATERIALIZED (
    SELECT m.identifier, bool_and((
        SELECT 1 FROM task AS t
        WHERE t.topic = %(topic)s AND t.state + 0 = ANY('{0,1,2,3,4}') AND t.identifier = m.identifier LIMIT 1
    ) IS NOT NULL
    OR (
        SELECT 1 FROM task AS t
        WHERE t.topic = %(topic)s AND t.state >= 5 AND t.state <= 7 AND t.identifier = m.identifier LIMIT 1
    ) IS NOT NULL) OVER (PARTITION BY m.number) AS complete
    FROM unnest(CAST(%(groups)s AS integer[]), CAST(%(identifiers)s AS text[])) AS m (number, identifier)
),
joined AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state + 0 = 4 AND t.identifier = ANY (
        ARRAY(SELECT DISTINCT identifier FROM judged WHERE complete))
    ORDER BY t.sequence
    FOR NO KEY UPDATE
)
UPDATE task AS t SET
    state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, due = NULL,
    late = CASE WHEN t.waits IS NULL THEN t.sequence END, waits = CASE WHEN t.waits IS NOT NULL THEN 1 END
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM joined))
RETURNING t.identifier, (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
