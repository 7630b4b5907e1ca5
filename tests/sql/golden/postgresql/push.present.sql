WITH unlocked AS (
    DELETE FROM task_mutex
    WHERE key = ANY(ARRAY(
        SELECT hashtextextended(i, hashtextextended(CAST(%(topic)s AS text), %(salt)s)) FROM unnest(CAST(%(identifiers)s AS text[])) AS i))
)
SELECT DISTINCT ON (t.identifier) t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = %(topic)s AND t.identifier = ANY (%(identifiers)s)
AND (t.state + 0 = ANY ('{0,1,2,3,4}') OR t.state >= 5 AND t.state <= 6)
ORDER BY t.identifier, t.sequence DESC
