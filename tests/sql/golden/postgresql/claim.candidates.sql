-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER
SELECT c.sequence, current_setting('transaction_isolation')
FROM (
    SELECT t.sequence, hashtextextended(t.identifier, hashtextextended(CAST(%(topic)s AS text), 3)) AS key
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND t.sequence + 0 >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL)
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.sequence = ANY (ARRAY(SELECT CAST(split_part(e, ':', 1) AS bigint) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e)) AND s.identifier = t.identifier
        AND CAST(s.state AS integer) = 1 AND concat(s.sequence, ':', s.token + 1) IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e) LIMIT 1
    ) IS NULL
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0
    LIMIT (SELECT CASE WHEN CAST(%(again)s AS boolean) THEN CAST(%(size)s AS bigint) + 1000 END)
) AS c
WHERE CASE
    WHEN NOT CASE
        WHEN CAST(%(single)s AS boolean) THEN
            pg_try_advisory_xact_lock_shared(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255)) AND pg_try_advisory_xact_lock(c.key)
        ELSE pg_try_advisory_xact_lock(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255))
    END THEN false
    WHEN CAST(%(again)s AS boolean) THEN (
        SELECT x.sequence FROM task AS x
        WHERE x.topic = %(topic)s AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) IS NOT NULL
    ELSE true
END
LIMIT (SELECT CAST(%(size)s AS bigint))

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
SELECT c.sequence, current_setting('transaction_isolation')
FROM (
    SELECT t.sequence, hashtextextended(t.identifier, hashtextextended(CAST(%(topic)s AS text), 3)) AS key
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND t.sequence + 0 >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL)
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
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
        WHERE s.topic = %(topic)s AND s.sequence = ANY (ARRAY(SELECT CAST(split_part(e, ':', 1) AS bigint) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e)) AND s.identifier = t.identifier
        AND CAST(s.state AS integer) = 1 AND concat(s.sequence, ':', s.token + 1) IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e) LIMIT 1
    ) IS NULL
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0
    LIMIT (SELECT CASE WHEN CAST(%(again)s AS boolean) THEN CAST(%(size)s AS bigint) + 1000 END)
) AS c
WHERE CASE
    WHEN NOT CASE
        WHEN CAST(%(single)s AS boolean) THEN
            pg_try_advisory_xact_lock_shared(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255)) AND pg_try_advisory_xact_lock(c.key)
        ELSE pg_try_advisory_xact_lock(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255))
    END THEN false
    WHEN CAST(%(again)s AS boolean) THEN (
        SELECT x.sequence FROM task AS x
        WHERE x.topic = %(topic)s AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) IS NOT NULL
    ELSE true
END
LIMIT (SELECT CAST(%(size)s AS bigint))

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
SELECT c.sequence, current_setting('transaction_isolation')
FROM (
    SELECT t.sequence, hashtextextended(t.identifier, hashtextextended(CAST(%(topic)s AS text), 3)) AS key
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND t.sequence + 0 >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL)
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= (
        SELECT least(CAST(%(floor)s AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = %(topic)s AND l.late IS NOT NULL) LIMIT 1
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
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.sequence = ANY (ARRAY(SELECT CAST(split_part(e, ':', 1) AS bigint) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e)) AND s.identifier = t.identifier
        AND CAST(s.state AS integer) = 1 AND concat(s.sequence, ':', s.token + 1) IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e) LIMIT 1
    ) IS NULL
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0
    LIMIT (SELECT CASE WHEN CAST(%(again)s AS boolean) THEN CAST(%(size)s AS bigint) + 1000 END)
) AS c
WHERE CASE
    WHEN NOT CASE
        WHEN CAST(%(single)s AS boolean) THEN
            pg_try_advisory_xact_lock_shared(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255)) AND pg_try_advisory_xact_lock(c.key)
        ELSE pg_try_advisory_xact_lock(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255))
    END THEN false
    WHEN CAST(%(again)s AS boolean) THEN (
        SELECT x.sequence FROM task AS x
        WHERE x.topic = %(topic)s AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) IS NOT NULL
    ELSE true
END
LIMIT (SELECT CAST(%(size)s AS bigint))

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER
SELECT c.sequence, current_setting('transaction_isolation')
FROM (
    SELECT t.sequence, hashtextextended(t.identifier, hashtextextended(CAST(%(topic)s AS text), 3)) AS key
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.sequence = ANY (ARRAY(SELECT CAST(split_part(e, ':', 1) AS bigint) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e)) AND s.identifier = t.identifier
        AND CAST(s.state AS integer) = 1 AND concat(s.sequence, ':', s.token + 1) IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e) LIMIT 1
    ) IS NULL
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0 DESC
    LIMIT (SELECT CASE WHEN CAST(%(again)s AS boolean) THEN CAST(%(size)s AS bigint) + 1000 END)
) AS c
WHERE CASE
    WHEN NOT CASE
        WHEN CAST(%(single)s AS boolean) THEN
            pg_try_advisory_xact_lock_shared(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255)) AND pg_try_advisory_xact_lock(c.key)
        ELSE pg_try_advisory_xact_lock(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255))
    END THEN false
    WHEN CAST(%(again)s AS boolean) THEN (
        SELECT x.sequence FROM task AS x
        WHERE x.topic = %(topic)s AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) IS NOT NULL
    ELSE true
END
LIMIT (SELECT CAST(%(size)s AS bigint))

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
SELECT c.sequence, current_setting('transaction_isolation')
FROM (
    SELECT t.sequence, hashtextextended(t.identifier, hashtextextended(CAST(%(topic)s AS text), 3)) AS key
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
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
        WHERE s.topic = %(topic)s AND s.sequence = ANY (ARRAY(SELECT CAST(split_part(e, ':', 1) AS bigint) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e)) AND s.identifier = t.identifier
        AND CAST(s.state AS integer) = 1 AND concat(s.sequence, ':', s.token + 1) IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e) LIMIT 1
    ) IS NULL
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0 DESC
    LIMIT (SELECT CASE WHEN CAST(%(again)s AS boolean) THEN CAST(%(size)s AS bigint) + 1000 END)
) AS c
WHERE CASE
    WHEN NOT CASE
        WHEN CAST(%(single)s AS boolean) THEN
            pg_try_advisory_xact_lock_shared(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255)) AND pg_try_advisory_xact_lock(c.key)
        ELSE pg_try_advisory_xact_lock(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255))
    END THEN false
    WHEN CAST(%(again)s AS boolean) THEN (
        SELECT x.sequence FROM task AS x
        WHERE x.topic = %(topic)s AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) IS NOT NULL
    ELSE true
END
LIMIT (SELECT CAST(%(size)s AS bigint))

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
SELECT c.sequence, current_setting('transaction_isolation')
FROM (
    SELECT t.sequence, hashtextextended(t.identifier, hashtextextended(CAST(%(topic)s AS text), 3)) AS key
    FROM task AS t
    WHERE t.topic = %(topic)s AND t.state = 1 AND ((SELECT string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') IS NULL) OR concat(t.sequence, ':', t.token + 1) NOT IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e))
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 0 AND s.identifier = t.identifier LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.state + 0 = 1 AND s.identifier = t.identifier AND 0 + s.sequence > t.sequence LIMIT 1
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
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = %(topic)s AND s.sequence = ANY (ARRAY(SELECT CAST(split_part(e, ':', 1) AS bigint) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e)) AND s.identifier = t.identifier
        AND CAST(s.state AS integer) = 1 AND concat(s.sequence, ':', s.token + 1) IN (SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')) AS e) LIMIT 1
    ) IS NULL
    AND EXISTS (SELECT FROM task_owner WHERE owner = %(owner)s)
    ORDER BY t.sequence + 0 DESC
    LIMIT (SELECT CASE WHEN CAST(%(again)s AS boolean) THEN CAST(%(size)s AS bigint) + 1000 END)
) AS c
WHERE CASE
    WHEN NOT CASE
        WHEN CAST(%(single)s AS boolean) THEN
            pg_try_advisory_xact_lock_shared(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255)) AND pg_try_advisory_xact_lock(c.key)
        ELSE pg_try_advisory_xact_lock(hashtextextended(CAST(%(topic)s AS text), 4) + (c.key & 255))
    END THEN false
    WHEN CAST(%(again)s AS boolean) THEN (
        SELECT x.sequence FROM task AS x
        WHERE x.topic = %(topic)s AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) IS NOT NULL
    ELSE true
END
LIMIT (SELECT CAST(%(size)s AS bigint))
