SELECT t.sequence, t.identifier, t.input, t.attempt, t.token FROM task t
WHERE t.topic = :topic AND t.sequence IN (
    SELECT MAX(o.sequence) FROM task o
    WHERE o.topic = :topic AND o.state <= 6
    AND o.identifier IN (SELECT j.identifier FROM JSON_TABLE(:given, '$[*]' COLUMNS (identifier VARCHAR2(500 CHAR) PATH '$[0]')) j)
    GROUP BY o.identifier)
