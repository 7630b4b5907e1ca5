-- SUPERSEDE find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state = 1
AND t.identifier IN (SELECT j.identifier FROM JSON_TABLE(:given, '$[*]' COLUMNS (identifier VARCHAR2(500 CHAR) PATH '$[0]')) j)
ORDER BY t.sequence
FOR UPDATE

-- SUPERSEDE change
UPDATE task t SET t.state = 8, t.descent = GREATEST(t.descent, t.state) WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1

-- REPLACE find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state BETWEEN 1 AND 6
AND t.identifier IN (SELECT j.identifier FROM JSON_TABLE(:given, '$[*]' COLUMNS (identifier VARCHAR2(500 CHAR) PATH '$[0]')) j)
ORDER BY t.sequence
FOR UPDATE

-- REPLACE change
UPDATE task t SET t.state = 8, t.descent = GREATEST(t.descent, t.state) WHERE t.topic = :topic AND t.sequence = :sequence AND t.state BETWEEN 1 AND 6

-- DELETE find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state >= 1
AND t.identifier IN (SELECT j.identifier FROM JSON_TABLE(:given, '$[*]' COLUMNS (identifier VARCHAR2(500 CHAR) PATH '$[0]')) j)
ORDER BY t.sequence
FOR UPDATE

-- DELETE change
DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state >= 1
