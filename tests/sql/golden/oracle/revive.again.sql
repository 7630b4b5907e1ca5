-- EXPIRED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j) AND t.state = 2
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- EXPIRED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
WHERE t.state = 2

-- FAILED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j) AND t.state = 3
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FAILED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
WHERE t.state = 3

-- SUSPENDED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j) AND t.state = 4
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUSPENDED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
WHERE t.state = 4

-- FILTERED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j) AND t.state = 5
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FILTERED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
WHERE t.state = 5

-- SUCCEEDED find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j) AND t.state = 6
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUCCEEDED read
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.sequence, t.identifier, t.input, t.attempt, t.token
FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
WHERE t.state = 6
