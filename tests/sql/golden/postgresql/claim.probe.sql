SELECT
    CASE WHEN pg_current_xact_id_if_assigned() IS NULL THEN CAST(CAST(pg_current_xact_id() AS text) AS bigint) END,
    CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint),
    (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.state = 1 AND t.sequence + 0 >= CAST(%(floor)s AS bigint)
        ORDER BY t.sequence + 0 LIMIT 1
    ),
    (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = %(topic)s AND t.state = 1
        ORDER BY t.sequence + 0 DESC LIMIT 1
    )
