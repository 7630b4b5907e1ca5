-- SINGULAR
UPDATE task SET
    state = CASE WHEN waits IS NULL THEN 1 ELSE 4 END, waits = CASE WHEN waits IS NOT NULL THEN 1 END, due = NULL
WHERE topic = :topic AND state = 4 AND task.state <= 4 AND task.state <> 1 AND identifier IN (
    SELECT identifier FROM (
        SELECT m.identifier, min(EXISTS (
            SELECT 1 FROM task AS t INDEXED BY task_open
            WHERE t.state = 4 AND t.state <= 4 AND t.state <> 1 AND t.topic = :topic AND t.identifier = m.identifier)) OVER (PARTITION BY m.number) AS complete
        FROM (
            SELECT json_extract(value, '$[0]') AS number, json_extract(value, '$[1]') AS identifier
            FROM json_each(:given)
        ) AS m
    ) WHERE complete
)
RETURNING identifier

-- ETERNAL
UPDATE task SET
    state = CASE WHEN waits IS NULL THEN 1 ELSE 4 END, waits = CASE WHEN waits IS NOT NULL THEN 1 END, due = NULL
WHERE topic = :topic AND state = 4 AND task.state <= 4 AND task.state <> 1 AND identifier IN (
    SELECT identifier FROM (
        SELECT m.identifier, min(EXISTS (
            SELECT 1 FROM task AS t INDEXED BY task_open
            WHERE t.state IN (0, 2, 3, 4) AND t.state <= 4 AND t.state <> 1 AND t.topic = :topic AND t.identifier = m.identifier)
        OR EXISTS (
            SELECT 1 FROM task AS t INDEXED BY task_listed
            WHERE t.state = 1 AND (t.listed = 1 OR t.token > 0) AND t.topic = :topic AND t.identifier = m.identifier)
        OR EXISTS (
            SELECT 1 FROM task AS t INDEXED BY task_done
            WHERE t.state >= 5 AND t.state <= 7 AND t.topic = :topic AND t.identifier = m.identifier)) OVER (PARTITION BY m.number) AS complete
        FROM (
            SELECT json_extract(value, '$[0]') AS number, json_extract(value, '$[1]') AS identifier
            FROM json_each(:given)
        ) AS m
    ) WHERE complete
)
RETURNING identifier
