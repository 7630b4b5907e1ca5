-- FAILED
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = CASE WHEN t.state = 3 THEN t.due END, t.state = 3
WHERE t.topic = :topic AND t.sequence = :sequence

-- SUSPENDED
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = CASE WHEN t.state = 4 THEN t.due END, t.state = 4
WHERE t.topic = :topic AND t.sequence = :sequence

-- FILTERED
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = CASE WHEN t.state = 5 THEN t.due END, t.state = 5
WHERE t.topic = :topic AND t.sequence = :sequence

-- SUCCEEDED
UPDATE task t SET t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END, t.due = CASE WHEN t.state = 6 THEN t.due END, t.state = 6
WHERE t.topic = :topic AND t.sequence = :sequence
