-- EXPIRED FAILED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 3
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- EXPIRED FAILED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 3
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- EXPIRED SUSPENDED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 4
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- EXPIRED SUSPENDED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 4
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- EXPIRED FILTERED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 5
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- EXPIRED FILTERED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 5
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- EXPIRED SUCCEEDED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 6
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- EXPIRED SUCCEEDED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 6
WHERE topic = :topic AND state = 2 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FAILED SUSPENDED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 4
WHERE topic = :topic AND state = 3 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FAILED SUSPENDED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 4
WHERE topic = :topic AND state = 3 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FAILED FILTERED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 5
WHERE topic = :topic AND state = 3 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FAILED FILTERED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 5
WHERE topic = :topic AND state = 3 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FAILED SUCCEEDED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 6
WHERE topic = :topic AND state = 3 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FAILED SUCCEEDED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 6
WHERE topic = :topic AND state = 3 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- SUSPENDED FAILED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 3
WHERE topic = :topic AND state = 4 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- SUSPENDED FAILED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 3
WHERE topic = :topic AND state = 4 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- SUSPENDED FILTERED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 5
WHERE topic = :topic AND state = 4 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- SUSPENDED FILTERED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 5
WHERE topic = :topic AND state = 4 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- SUSPENDED SUCCEEDED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 6
WHERE topic = :topic AND state = 4 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- SUSPENDED SUCCEEDED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 6
WHERE topic = :topic AND state = 4 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FILTERED FAILED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 3
WHERE topic = :topic AND state = 5 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FILTERED FAILED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 3
WHERE topic = :topic AND state = 5 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FILTERED SUSPENDED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 4
WHERE topic = :topic AND state = 5 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FILTERED SUSPENDED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 4
WHERE topic = :topic AND state = 5 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FILTERED SUCCEEDED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 6
WHERE topic = :topic AND state = 5 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- FILTERED SUCCEEDED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 6
WHERE topic = :topic AND state = 5 AND state > 1 AND state <> 6 AND sequence BETWEEN :first AND :last

-- SUCCEEDED FAILED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 3
WHERE topic = :topic AND state = 6 AND sequence BETWEEN :first AND :last

-- SUCCEEDED FAILED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 3
WHERE topic = :topic AND state = 6 AND sequence BETWEEN :first AND :last

-- SUCCEEDED SUSPENDED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 4
WHERE topic = :topic AND state = 6 AND sequence BETWEEN :first AND :last

-- SUCCEEDED SUSPENDED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 4
WHERE topic = :topic AND state = 6 AND sequence BETWEEN :first AND :last

-- SUCCEEDED FILTERED False
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 5
WHERE topic = :topic AND state = 6 AND sequence BETWEEN :first AND :last

-- SUCCEEDED FILTERED True
UPDATE task SET descent = max(descent, state), completed = coalesce(completed, strftime('%Y-%m-%d %H:%M:%f', 'now')),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END, due = NULL, state = 5
WHERE topic = :topic AND state = 6 AND sequence BETWEEN :first AND :last
