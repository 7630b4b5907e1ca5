WITH original AS MATERIALIZED (
    SELECT
        t.topic, t.identifier, t.input, t.reference, t.sequence, t.awaited, t.on_abort, t.failed,
        CASE WHEN t.waits IS NOT NULL AND g.state = 1 THEN 4 ELSE g.state END AS state,
        CASE WHEN t.waits IS NOT NULL AND g.state = 1 THEN 1 END AS waits
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(states)s AS smallint[])) WITH ORDINALITY AS g (sequence, state, rank)
    CROSS JOIN LATERAL (SELECT * FROM task AS t WHERE t.topic = %(topic)s AND t.sequence = g.sequence OFFSET 0) AS t
    ORDER BY g.rank
)
INSERT INTO task (
    topic, sequence, identifier, input, reference, state, origin, awaited, on_abort, failed, waits)
SELECT
    topic, nextval('task_sequence'), identifier, input, reference, state, sequence, awaited, on_abort, failed, waits
FROM original
RETURNING origin, sequence, (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
