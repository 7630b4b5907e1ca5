UPDATE task_dependency SET run_sequence = json_extract(g.value, '$[1]')
FROM json_each(:given) AS g WHERE run_sequence = json_extract(g.value, '$[0]')
