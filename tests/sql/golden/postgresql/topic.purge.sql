-- FAILED+FILTERED+RECREATED+REDUNDANT+SUCCEEDED
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (3, 5, 6, 7, 8) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- READY
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (1) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- EXPIRED
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (2) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FAILED
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (3) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUSPENDED
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (4) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- FILTERED
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (5) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- SUCCEEDED
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (6) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- RECREATED
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (7) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))

-- REDUNDANT
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = %(topic)s AND t.state IN (8) AND t.sequence BETWEEN %(first)s AND %(last)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))
