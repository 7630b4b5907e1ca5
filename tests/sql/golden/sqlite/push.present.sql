SELECT sequence, identifier, input, attempt, token FROM task
WHERE sequence IN (
    SELECT max(sequence) FROM (
    SELECT t.identifier, t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_listed
        ON t.topic = :topic AND t.identifier = g.value AND t.state = 1 AND (t.listed = 1 OR t.token > 0)
    UNION ALL
    SELECT t.identifier, t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_open
        ON t.topic = :topic AND t.identifier = g.value AND t.state IN (0, 2, 3, 4) AND t.state <= 4 AND t.state <> 1
    UNION ALL
    SELECT t.identifier, t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_done
        ON t.topic = :topic AND t.identifier = g.value AND t.state >= 5 WHERE t.state <= 6
    ) GROUP BY identifier
)
