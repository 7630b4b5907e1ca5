-- ACTIVE
UPDATE task AS t SET
    state = 0, owner = %(owner)s, token = t.token + 1, late = NULL,
    attempt = CASE WHEN t.state = 0 THEN t.attempt ELSE t.attempt + 1 END,
    descent = greatest(t.descent, t.state),
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = %(sequence)s AND CAST(t.state AS integer) IN (0)
AND t.waits IS NULL AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- ACTIVE+READY+SUSPENDED
UPDATE task AS t SET
    state = 0, owner = %(owner)s, token = t.token + 1, late = NULL,
    attempt = CASE WHEN t.state = 0 THEN t.attempt ELSE t.attempt + 1 END,
    descent = greatest(t.descent, t.state),
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = %(sequence)s AND CAST(t.state AS integer) IN (0, 1, 4)
AND t.waits IS NULL AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
