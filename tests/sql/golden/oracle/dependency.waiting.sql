SELECT d.run_topic, d.run_sequence, d.after_sequence, d.signal FROM task_dependency d
WHERE d.after_sequence IN (SELECT j.sequence FROM JSON_TABLE(:given, '$[*]' COLUMNS (sequence NUMBER(19) PATH '$[0]')) j) AND d.signal <> 1
