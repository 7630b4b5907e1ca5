-- COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state + 0 = 1 AND t.identifier >= %(low)s AND t.identifier < %(high)s
    AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.identifier, 0 + t.sequence LIMIT 1
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state + 0 = 1 AND t.identifier >= %(low)s AND t.identifier < %(high)s
    AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.identifier, 0 + t.sequence LIMIT 1
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted
