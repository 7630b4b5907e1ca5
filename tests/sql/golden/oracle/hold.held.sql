-- COMMITTED
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 0 AND t.owner = :owner AND (t.sequence, t.token) IN (
    SELECT j.sequence, j.token FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]', token NUMBER(10) PATH '$[1]')) j)

-- TRANSACTION
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 1 AND EXISTS (
    SELECT 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1 AND c.owner = :owner)
AND (t.sequence, t.token + 1) IN (
    SELECT j.sequence, j.token FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]', token NUMBER(10) PATH '$[1]')) j)
