SELECT i.identifier FROM unnest(CAST(%(identifiers)s AS text[])) AS i (identifier)
WHERE (
    SELECT 1 FROM task AS t
    WHERE t.topic = %(topic)s AND t.state + 0 = 1 AND t.identifier = i.identifier
    AND 0 + t.sequence >= CAST(%(floor)s AS bigint) AND 0 + t.sequence < CAST(%(bound)s AS bigint) LIMIT 1
) IS NOT NULL
