-- FAILED+FILTERED+RECREATED+REDUNDANT+SUCCEEDED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (3, 5, 6, 7, 8) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- FAILED+FILTERED+RECREATED+REDUNDANT+SUCCEEDED change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (3, 5, 6, 7, 8)

-- READY find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (1) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- READY change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (1)

-- EXPIRED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (2) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- EXPIRED change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (2)

-- FAILED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (3) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- FAILED change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (3)

-- SUSPENDED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (4) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- SUSPENDED change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (4)

-- FILTERED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (5) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- FILTERED change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (5)

-- SUCCEEDED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (6) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- SUCCEEDED change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (6)

-- RECREATED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (7) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- RECREATED change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (7)

-- REDUNDANT find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN (8) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED

-- REDUNDANT change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN (8)
