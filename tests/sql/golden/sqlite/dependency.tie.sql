UPDATE task SET
    listed = listed OR :waits IS NOT NULL, state = CASE WHEN state = 1 AND :waits IS NOT NULL THEN 4 ELSE state END,
    waits = coalesce(:waits, waits), on_abort = coalesce(:on_abort, on_abort)
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
