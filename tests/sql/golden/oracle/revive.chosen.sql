-- EXPIRED
SELECT t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FETCH FIRST :most ROWS ONLY

-- FAILED
SELECT t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND t.state = 3 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FETCH FIRST :most ROWS ONLY

-- SUSPENDED
SELECT t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND t.state = 4 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FETCH FIRST :most ROWS ONLY

-- FILTERED
SELECT t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND t.state = 5 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FETCH FIRST :most ROWS ONLY

-- SUCCEEDED
SELECT t.sequence, t.identifier FROM task t
WHERE t.topic = :topic AND t.state = 6 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FETCH FIRST :most ROWS ONLY
