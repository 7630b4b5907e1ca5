-- FIRST_IN_FIRST_OUT NONE COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND t.sequence + 0 >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL)
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0 LIMIT (SELECT CAST(%(size)s AS bigint))
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- FIRST_IN_FIRST_OUT NONE TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND t.sequence + 0 >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL)
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0 LIMIT (SELECT CAST(%(size)s AS bigint))
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted

-- LAST_IN_FIRST_OUT NONE COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0 DESC LIMIT (SELECT CAST(%(size)s AS bigint))
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- LAST_IN_FIRST_OUT NONE TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0 DESC LIMIT (SELECT CAST(%(size)s AS bigint))
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted
