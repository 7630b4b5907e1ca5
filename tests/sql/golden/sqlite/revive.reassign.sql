-- FAILED
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = CASE WHEN state = 3 THEN due END, state = 3
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic

-- SUSPENDED
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = CASE WHEN state = 4 THEN due END, state = 4
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic

-- FILTERED
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = CASE WHEN state = 5 THEN due END, state = 5
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic

-- SUCCEEDED
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = CASE WHEN state = 6 THEN due END, state = 6
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
