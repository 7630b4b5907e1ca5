UPDATE task_dependency SET after_sequence = json_extract(g.value, '$[1]')
FROM json_each(:given) AS g WHERE after_sequence = json_extract(g.value, '$[0]') AND signal = 0
