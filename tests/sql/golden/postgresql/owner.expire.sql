WITH left_behind AS MATERIALIZED (
    SELECT t.topic, t.sequence FROM task AS t
    WHERE t.state + 0 = 0 AND t.state + 0 <= 4 AND (
        t.lease <= statement_timestamp()
        OR t.owner <> %(owner)s AND NOT EXISTS (
            SELECT FROM task_owner AS o
            WHERE o.owner = t.owner AND o.heartbeat >= statement_timestamp() + CAST(%(timeout)s AS interval))
    )
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET state = 2
WHERE t.topic = ANY (ARRAY(SELECT DISTINCT topic FROM left_behind))
AND t.sequence = ANY (ARRAY(SELECT sequence FROM left_behind))
