SELECT t.sequence FROM task t WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j) AND t.state = 4
