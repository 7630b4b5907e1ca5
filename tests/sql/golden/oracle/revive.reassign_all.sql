-- EXPIRED FAILED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- EXPIRED FAILED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 2

-- EXPIRED FAILED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- EXPIRED FAILED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 2

-- EXPIRED SUSPENDED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- EXPIRED SUSPENDED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 2

-- EXPIRED SUSPENDED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- EXPIRED SUSPENDED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 2

-- EXPIRED FILTERED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- EXPIRED FILTERED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 2

-- EXPIRED FILTERED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- EXPIRED FILTERED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 2

-- EXPIRED SUCCEEDED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- EXPIRED SUCCEEDED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 2

-- EXPIRED SUCCEEDED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 2 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- EXPIRED SUCCEEDED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 2

-- FAILED SUSPENDED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 3 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- FAILED SUSPENDED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 3

-- FAILED SUSPENDED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 3 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FAILED SUSPENDED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 3

-- FAILED FILTERED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 3 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- FAILED FILTERED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 3

-- FAILED FILTERED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 3 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FAILED FILTERED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 3

-- FAILED SUCCEEDED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 3 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- FAILED SUCCEEDED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 3

-- FAILED SUCCEEDED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 3 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FAILED SUCCEEDED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 3

-- SUSPENDED FAILED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 4 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- SUSPENDED FAILED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4

-- SUSPENDED FAILED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 4 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUSPENDED FAILED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4

-- SUSPENDED FILTERED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 4 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- SUSPENDED FILTERED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4

-- SUSPENDED FILTERED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 4 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUSPENDED FILTERED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4

-- SUSPENDED SUCCEEDED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 4 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- SUSPENDED SUCCEEDED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4

-- SUSPENDED SUCCEEDED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 4 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUSPENDED SUCCEEDED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4

-- FILTERED FAILED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 5 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- FILTERED FAILED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 5

-- FILTERED FAILED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 5 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FILTERED FAILED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 5

-- FILTERED SUSPENDED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 5 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- FILTERED SUSPENDED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 5

-- FILTERED SUSPENDED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 5 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FILTERED SUSPENDED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 5

-- FILTERED SUCCEEDED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 5 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- FILTERED SUCCEEDED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 5

-- FILTERED SUCCEEDED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 5 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- FILTERED SUCCEEDED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 5

-- SUCCEEDED FAILED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 6 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- SUCCEEDED FAILED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 6

-- SUCCEEDED FAILED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 6 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUCCEEDED FAILED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 6

-- SUCCEEDED SUSPENDED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 6 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- SUCCEEDED SUSPENDED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 6

-- SUCCEEDED SUSPENDED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 6 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUCCEEDED SUSPENDED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 6

-- SUCCEEDED FILTERED False find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 6 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE

-- SUCCEEDED FILTERED False change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 6

-- SUCCEEDED FILTERED True find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 6 AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED

-- SUCCEEDED FILTERED True change
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = NULL, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 6
