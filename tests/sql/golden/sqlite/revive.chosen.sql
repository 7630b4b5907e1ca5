-- EXPIRED
SELECT sequence, identifier FROM task
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last
ORDER BY sequence LIMIT :size

-- FAILED
SELECT sequence, identifier FROM task
WHERE topic = :topic AND state = 3 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last
ORDER BY sequence LIMIT :size

-- SUSPENDED
SELECT sequence, identifier FROM task
WHERE topic = :topic AND state = 4 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last
ORDER BY sequence LIMIT :size

-- FILTERED
SELECT sequence, identifier FROM task
WHERE topic = :topic AND state = 5 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last
ORDER BY sequence LIMIT :size

-- SUCCEEDED
SELECT sequence, identifier FROM task
WHERE topic = :topic AND state = 6 AND sequence BETWEEN :first AND :last
ORDER BY sequence LIMIT :size
