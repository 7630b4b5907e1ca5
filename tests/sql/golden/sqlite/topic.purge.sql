-- FAILED+FILTERED+RECREATED+REDUNDANT+SUCCEEDED
DELETE FROM task WHERE topic = :topic AND state IN (3, 5, 6, 7, 8) AND sequence BETWEEN :first AND :last

-- READY
DELETE FROM task WHERE topic = :topic AND state IN (1) AND sequence BETWEEN :first AND :last

-- EXPIRED
DELETE FROM task WHERE topic = :topic AND state IN (2) AND sequence BETWEEN :first AND :last

-- FAILED
DELETE FROM task WHERE topic = :topic AND state IN (3) AND sequence BETWEEN :first AND :last

-- SUSPENDED
DELETE FROM task WHERE topic = :topic AND state IN (4) AND sequence BETWEEN :first AND :last

-- FILTERED
DELETE FROM task WHERE topic = :topic AND state IN (5) AND sequence BETWEEN :first AND :last

-- SUCCEEDED
DELETE FROM task WHERE topic = :topic AND state IN (6) AND sequence BETWEEN :first AND :last

-- RECREATED
DELETE FROM task WHERE topic = :topic AND state IN (7) AND sequence BETWEEN :first AND :last

-- REDUNDANT
DELETE FROM task WHERE topic = :topic AND state IN (8) AND sequence BETWEEN :first AND :last
