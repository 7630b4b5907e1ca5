-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 2 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 3 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 2 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 3 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 2 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 3 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 4 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 2 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 3 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 4 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 2 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 3 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 2 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 3 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS COMMITTED
WITH claimed AS MATERIALIZED (
    SELECT t.sequence
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 2 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 3 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 4 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET
    state = 0, owner = %(owner)s, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = statement_timestamp(), lease = statement_timestamp() + CAST(%(lease)s AS interval)
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS TRANSACTION
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.sequence = ANY (CAST((SELECT CAST(%(sequences)s AS bigint[])) AS bigint[])) AND CAST(t.state AS integer) = 1
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 2 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 3 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 4 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    FOR NO KEY UPDATE OF t SKIP LOCKED
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', hashtextextended(CAST(%(owner)s AS text), 0)), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted
