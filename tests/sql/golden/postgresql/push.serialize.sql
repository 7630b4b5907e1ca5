WITH locked AS (
    INSERT INTO task_mutex (key)
    SELECT DISTINCT hashtextextended(i, hashtextextended(CAST(%(topic)s AS text), %(salt)s)) AS key
    FROM unnest(CAST(%(identifiers)s AS text[])) AS i
    WHERE current_setting('transaction_isolation') IN ('read committed', 'read uncommitted')
    ORDER BY key
    ON CONFLICT (key) DO UPDATE SET key = excluded.key
)
SELECT current_setting('transaction_isolation')
