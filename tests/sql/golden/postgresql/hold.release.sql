WITH held AS MATERIALIZED (
    SELECT h.sequence
    FROM unnest(CAST(%(sequences)s AS bigint[]), CAST(%(tokens)s AS integer[])) AS g (sequence, token)
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.sequence = g.sequence AND t.state = 0 AND t.owner = %(owner)s AND t.token = g.token
        OFFSET 0 FOR NO KEY UPDATE
    ) AS h
)
UPDATE task AS t SET state = 1, attempt = greatest(t.attempt - 1, 0), lease = NULL, late = t.sequence
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM held))
AND (SELECT count(*) FROM held) = %(number)s
RETURNING (SELECT pg_notify('task_notification', 'WORK ' || md5(%(topic)s)) WHERE %(notify)s)
