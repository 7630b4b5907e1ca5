WITH marked AS (
    UPDATE task AS t SET awaited = true
    WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(
        SELECT u.sequence FROM task AS u
        WHERE u.topic = %(topic)s AND u.sequence = ANY (CAST(%(sequences)s AS bigint[])) AND u.awaited IS NULL
        AND current_setting('transaction_isolation') IN ('read committed', 'read uncommitted')
        ORDER BY u.sequence
        FOR NO KEY UPDATE))
    RETURNING t.state
)
SELECT current_setting('transaction_isolation'), CASE WHEN EXISTS (SELECT FROM marked WHERE state = 1) THEN (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s) END
