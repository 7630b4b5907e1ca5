UPDATE task SET state = 1
WHERE topic = :topic AND state = 4 AND due IS NOT NULL AND due <= strftime('%Y-%m-%d %H:%M:%f', 'now') AND waits IS NULL
