-- RECENT all
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent

GROUP BY topic, state

-- RECENT identifier
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s AND identifier = %(identifier)s AND (state + 0 = ANY('{0,1,2,3,4}') OR state >= 5)
    ORDER BY topic, identifier, sequence DESC
) AS recent

GROUP BY topic, state

-- RECENT reference
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s AND reference = %(reference)s
    ORDER BY topic, identifier, sequence DESC
) AS recent

GROUP BY topic, state

-- RECENT ACTIVE
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 0
GROUP BY topic, state

-- RECENT READY
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 1
GROUP BY topic, state

-- RECENT EXPIRED
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 2
GROUP BY topic, state

-- RECENT FAILED
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 3
GROUP BY topic, state

-- RECENT SUSPENDED
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 4
GROUP BY topic, state

-- RECENT FILTERED
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 5
GROUP BY topic, state

-- RECENT SUCCEEDED
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 6
GROUP BY topic, state

-- RECENT RECREATED
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 7
GROUP BY topic, state

-- RECENT REDUNDANT
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s
    ORDER BY topic, identifier, sequence DESC
) AS recent
WHERE state = 8
GROUP BY topic, state

-- RECENT topic
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE sequence BETWEEN %(first)s AND %(last)s AND topic = %(topic)s
    ORDER BY topic, identifier, sequence DESC
) AS recent

GROUP BY topic, state

-- TOTAL all
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s
GROUP BY topic, state

-- TOTAL identifier
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND identifier = %(identifier)s AND (state + 0 = ANY('{0,1,2,3,4}') OR state >= 5)
GROUP BY topic, state

-- TOTAL reference
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND reference = %(reference)s
GROUP BY topic, state

-- TOTAL ACTIVE
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 0
GROUP BY topic, state

-- TOTAL READY
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 1
GROUP BY topic, state

-- TOTAL EXPIRED
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 2
GROUP BY topic, state

-- TOTAL FAILED
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 3
GROUP BY topic, state

-- TOTAL SUSPENDED
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 4
GROUP BY topic, state

-- TOTAL FILTERED
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 5
GROUP BY topic, state

-- TOTAL SUCCEEDED
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 6
GROUP BY topic, state

-- TOTAL RECREATED
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 7
GROUP BY topic, state

-- TOTAL REDUNDANT
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND state = 8
GROUP BY topic, state

-- TOTAL topic
SELECT topic, state, count(*), max(sequence) FROM task
WHERE sequence BETWEEN %(first)s AND %(last)s AND topic = %(topic)s
GROUP BY topic, state
