-- False True
SELECT min(sequence) FROM task WHERE created >= %(moment)s

-- True True
SELECT max(sequence) FROM task WHERE created <= %(moment)s

-- True False
SELECT max(sequence) FROM task WHERE created < %(moment)s
