-- SINGULAR find
SELECT DISTINCT identifier FROM (
    SELECT identifier, MIN(present) OVER (PARTITION BY place) AS complete FROM (
        SELECT
            j.place, j.identifier,
            CASE WHEN EXISTS (
                SELECT 1 FROM task t WHERE t.topic = :topic AND t.identifier = j.identifier AND t.state = 4
            ) THEN 1 ELSE 0 END AS present
        FROM JSON_TABLE(:given, '$[*]' COLUMNS (place NUMBER(10) PATH '$[0]', identifier VARCHAR2(500 CHAR) PATH '$[1]')) j
    ) judged
) joined
WHERE complete = 1

-- SINGULAR change
UPDATE task t SET
    t.state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, t.waits = CASE WHEN t.waits IS NOT NULL THEN 1 END,
    t.due = NULL
WHERE t.topic = :topic AND t.identifier = :identifier AND t.state = 4

-- ETERNAL find
SELECT DISTINCT identifier FROM (
    SELECT identifier, MIN(present) OVER (PARTITION BY place) AS complete FROM (
        SELECT
            j.place, j.identifier,
            CASE WHEN EXISTS (
                SELECT 1 FROM task t WHERE t.topic = :topic AND t.identifier = j.identifier AND t.state <= 7
            ) THEN 1 ELSE 0 END AS present
        FROM JSON_TABLE(:given, '$[*]' COLUMNS (place NUMBER(10) PATH '$[0]', identifier VARCHAR2(500 CHAR) PATH '$[1]')) j
    ) judged
) joined
WHERE complete = 1

-- ETERNAL change
UPDATE task t SET
    t.state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, t.waits = CASE WHEN t.waits IS NOT NULL THEN 1 END,
    t.due = NULL
WHERE t.topic = :topic AND t.identifier = :identifier AND t.state = 4
