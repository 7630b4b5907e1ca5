UPDATE task_dependency SET signal = :signal
FROM json_each(:given) AS g
WHERE run_sequence = json_extract(g.value, '$[0]') AND after_sequence = json_extract(g.value, '$[1]') AND signal <> :signal
