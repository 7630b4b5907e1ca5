WITH numbered AS MATERIALIZED (
    SELECT nextval('task_sequence') AS sequence, g.*
    FROM unnest(
        CAST(%(identifiers)s AS text[]), CAST(%(inputs)s AS text[]), CAST(%(references)s AS text[]),
        CAST(%(states)s AS smallint[]), CAST(%(dues)s AS timestamptz[]), CAST(%(delays)s AS interval[])
    ) AS g (identifier, input, reference, state, due, delay)
    WHERE (SELECT pg_current_xact_id() IS NOT NULL AND task_known(%(topic)s))
)
INSERT INTO task (topic, sequence, identifier, input, reference, state, due)
SELECT CAST(%(topic)s AS text), sequence, identifier, input, reference, state, coalesce(due, statement_timestamp() + delay)
FROM numbered
RETURNING sequence, (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
