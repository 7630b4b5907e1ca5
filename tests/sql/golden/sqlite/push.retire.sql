-- SUPERSEDE
UPDATE task INDEXED BY task_listed SET state = 8
WHERE task.state = 1 AND (task.listed = 1 OR task.token > 0) AND topic = :topic AND identifier IN (SELECT value FROM json_each(:given))
RETURNING sequence

-- REPLACE
UPDATE task SET state = 8, descent = max(descent, state)
WHERE sequence IN (
    SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_listed
        ON t.topic = :topic AND t.identifier = g.value AND t.state = 1 AND (t.listed = 1 OR t.token > 0)
    UNION ALL
    SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_open
        ON t.topic = :topic AND t.identifier = g.value AND t.state IN (2, 3, 4) AND t.state <= 4 AND t.state <> 1
    UNION ALL
    SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_done
        ON t.topic = :topic AND t.identifier = g.value AND t.state >= 5 WHERE t.state <= 6
)
RETURNING sequence

-- DELETE
DELETE FROM task
WHERE sequence IN (
    SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_listed
        ON t.topic = :topic AND t.identifier = g.value AND t.state = 1 AND (t.listed = 1 OR t.token > 0)
    UNION ALL
    SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_open
        ON t.topic = :topic AND t.identifier = g.value AND t.state IN (2, 3, 4) AND t.state <= 4 AND t.state <> 1
    UNION ALL
    SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_done
        ON t.topic = :topic AND t.identifier = g.value AND t.state >= 5 
)
RETURNING sequence
