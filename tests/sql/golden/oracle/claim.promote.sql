-- find
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 4 AND t.due IS NOT NULL THEN t.topic END = :topic
AND CASE WHEN t.state = 4 AND t.due IS NOT NULL THEN t.due END <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
AND t.waits IS NULL
FOR UPDATE SKIP LOCKED

-- change
UPDATE task t SET t.state = 1
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4 AND t.waits IS NULL
