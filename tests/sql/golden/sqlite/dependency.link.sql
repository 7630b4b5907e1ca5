INSERT OR IGNORE INTO task_dependency (run_topic, run_sequence, after_topic, after_sequence)
SELECT :topic, json_extract(g.value, '$[0]'), :after_topic, json_extract(g.value, '$[1]') FROM json_each(:given) AS g
