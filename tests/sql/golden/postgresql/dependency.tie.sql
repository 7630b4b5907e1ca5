UPDATE task AS t SET
    state = CASE WHEN t.state = 1 AND CAST(%(waits)s AS smallint) IS NOT NULL THEN 4 ELSE t.state END,
    late = CASE WHEN t.state = 1 AND CAST(%(waits)s AS smallint) IS NOT NULL THEN NULL ELSE t.late END,
    waits = coalesce(CAST(%(waits)s AS smallint), t.waits), on_abort = coalesce(CAST(%(on_abort)s AS smallint), t.on_abort),
    awaited = coalesce(t.awaited, nullif(CAST(%(awaited)s AS boolean), false))
WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST(%(sequences)s AS bigint[]))
