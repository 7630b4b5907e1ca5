SELECT MIN(CASE WHEN t.state = 4 AND t.due IS NOT NULL THEN t.due END) FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 4 AND t.due IS NOT NULL THEN t.topic END = :topic AND t.waits IS NULL
