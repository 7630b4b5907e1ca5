WITH unlocked AS (
    DELETE FROM task_mutex
    WHERE key = ANY(ARRAY(
        SELECT hashtextextended(i, hashtextextended(CAST(%(topic)s AS text), %(salt)s)) FROM unnest(CAST(%(identifiers)s AS text[])) AS i))
) SELECT 1
