-- False True
SELECT MIN(sequence) FROM task WHERE created >= TO_TIMESTAMP(:moment, 'YYYY-MM-DD HH24:MI:SS.FF6')

-- True True
SELECT MAX(sequence) FROM task WHERE created <= TO_TIMESTAMP(:moment, 'YYYY-MM-DD HH24:MI:SS.FF6')

-- True False
SELECT MAX(sequence) FROM task WHERE created < TO_TIMESTAMP(:moment, 'YYYY-MM-DD HH24:MI:SS.FF6')
