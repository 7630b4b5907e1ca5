SELECT topic, state, count(*) FROM task
WHERE state BETWEEN 3 AND 6
AND (CAST(%(since)s AS timestamptz) IS NULL OR completed >= CAST(%(since)s AS timestamptz))
AND (CAST(%(until)s AS timestamptz) IS NULL OR completed <= CAST(%(until)s AS timestamptz))
GROUP BY topic, state
