SELECT t.sequence, t.identifier, t.state, t.waits, t.on_abort, CASE WHEN t.due IS NULL THEN 0 ELSE 1 END
FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j)
ORDER BY t.sequence
FOR UPDATE
