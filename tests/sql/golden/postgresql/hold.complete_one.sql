-- COMMITTED
UPDATE task AS t SET state = CAST(%(state)s AS smallint), output = %(output)s, completed = statement_timestamp(), due = coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval))
WHERE t.topic = %(topic)s AND t.sequence = %(sequence)s AND t.state = 0 AND t.owner = %(owner)s AND t.token = %(token)s
AND (t.awaited IS NULL OR current_setting('transaction_isolation') IN ('read committed', 'read uncommitted'))
RETURNING 1, CASE WHEN t.awaited THEN ARRAY[t.sequence] END

-- TRANSACTION
UPDATE task AS t SET owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, polled = statement_timestamp(), late = NULL, state = CAST(%(state)s AS smallint), output = %(output)s, completed = statement_timestamp(), due = coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval))
WHERE t.topic = %(topic)s AND t.sequence = %(sequence)s AND t.state BETWEEN 1 AND 1 AND t.token = %(token)s - 1
AND concat(t.sequence, ':', t.token + 1, ':', hashtextextended(CAST(%(owner)s AS text), 0)) = ANY (string_to_array(nullif(current_setting('topiq.claimed', true), ''), ','))
AND (t.awaited IS NULL OR current_setting('transaction_isolation') IN ('read committed', 'read uncommitted'))
RETURNING 1, CASE WHEN t.awaited THEN ARRAY[t.sequence] END
