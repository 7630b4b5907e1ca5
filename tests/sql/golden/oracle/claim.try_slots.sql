SELECT s.slot FROM task_slot s
WHERE s.slot IN (SELECT j.slot FROM JSON_TABLE(:given, '$[*]' COLUMNS (slot NUMBER(10) PATH '$[0]')) j)
FOR UPDATE SKIP LOCKED
