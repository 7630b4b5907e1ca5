-- False True
SELECT min(sequence) FROM task WHERE created >= :moment

-- True True
SELECT max(sequence) FROM task WHERE created <= :moment

-- True False
SELECT max(sequence) FROM task WHERE created < :moment
