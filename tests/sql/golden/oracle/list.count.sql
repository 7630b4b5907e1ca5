-- RECENT all
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1
GROUP BY topic, state

-- RECENT identifier
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last AND identifier = :identifier
) recent
WHERE place = 1
GROUP BY topic, state

-- RECENT reference
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last AND reference = :reference
) recent
WHERE place = 1
GROUP BY topic, state

-- RECENT ACTIVE
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 0
GROUP BY topic, state

-- RECENT READY
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 1
GROUP BY topic, state

-- RECENT EXPIRED
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 2
GROUP BY topic, state

-- RECENT FAILED
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 3
GROUP BY topic, state

-- RECENT SUSPENDED
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 4
GROUP BY topic, state

-- RECENT FILTERED
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 5
GROUP BY topic, state

-- RECENT SUCCEEDED
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 6
GROUP BY topic, state

-- RECENT RECREATED
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 7
GROUP BY topic, state

-- RECENT REDUNDANT
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last
) recent
WHERE place = 1 AND state = 8
GROUP BY topic, state

-- RECENT topic
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE sequence BETWEEN :first AND :last AND topic = :topic
) recent
WHERE place = 1
GROUP BY topic, state

-- TOTAL all
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last
GROUP BY topic, state

-- TOTAL identifier
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND identifier = :identifier
GROUP BY topic, state

-- TOTAL reference
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND reference = :reference
GROUP BY topic, state

-- TOTAL ACTIVE
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 0
GROUP BY topic, state

-- TOTAL READY
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 1
GROUP BY topic, state

-- TOTAL EXPIRED
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 2
GROUP BY topic, state

-- TOTAL FAILED
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 3
GROUP BY topic, state

-- TOTAL SUSPENDED
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 4
GROUP BY topic, state

-- TOTAL FILTERED
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 5
GROUP BY topic, state

-- TOTAL SUCCEEDED
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 6
GROUP BY topic, state

-- TOTAL RECREATED
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 7
GROUP BY topic, state

-- TOTAL REDUNDANT
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND state = 8
GROUP BY topic, state

-- TOTAL topic
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE sequence BETWEEN :first AND :last AND topic = :topic
GROUP BY topic, state
