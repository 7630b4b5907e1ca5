WITH original AS MATERIALIZED (
    SELECT t.topic, t.identifier, t.input, t.reference, g.state, t.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(states)s AS smallint[])) WITH ORDINALITY AS g (sequence, state, rank)
    CROSS JOIN LATERAL (SELECT * FROM task AS t WHERE t.topic = %(topic)s AND t.sequence = g.sequence OFFSET 0) AS t
    ORDER BY g.rank
)
INSERT INTO task (topic, sequence, identifier, input, reference, state, origin)
SELECT topic, nextval('task_sequence'), identifier, input, reference, state, sequence
FROM original
RETURNING origin, sequence, (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
