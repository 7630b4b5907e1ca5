-- topiq, version 3: pushes write two pages less

-- No number up to this one is given again, also if the last task was deleted.
CREATE TABLE task_number (
    last INTEGER NOT NULL
);

-- if fresh
INSERT INTO task_number (last) VALUES (0);
-- end

-- if not fresh
INSERT INTO task_number (last) SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'task';
-- end

-- last: that number, if no task has one as high, which most pushes would count on from.
ALTER TABLE task_topic ADD COLUMN last INTEGER;

-- if not fresh
UPDATE task_topic SET last = (SELECT last FROM task_number WHERE last > coalesce((SELECT max(sequence) FROM task), 0));
-- end

CREATE TRIGGER task_deleted BEFORE DELETE ON task WHEN old.sequence = (SELECT max(sequence) FROM task)
BEGIN
    UPDATE task_number SET last = old.sequence WHERE last < old.sequence;
    UPDATE task_topic SET last = (SELECT last FROM task_number);
END;

CREATE TRIGGER task_topic_made AFTER INSERT ON task_topic
BEGIN
    UPDATE task_topic SET last = (SELECT last FROM task_number WHERE last > coalesce((SELECT max(sequence) FROM task), 0))
    WHERE topic = new.topic;
END;

-- looked: 1 from when somebody has looked for tasks of the topic by their identifiers.
ALTER TABLE task_topic ADD COLUMN looked INTEGER NOT NULL DEFAULT 0;

-- listed: 0 for a task that was pushed READY before that; see task_sql/sqlite/listed.py.
ALTER TABLE task ADD COLUMN listed INTEGER NOT NULL DEFAULT 1;

DROP INDEX task_open;

-- Siblings of an identifier that are neither READY nor finished; expiry, which looks for the ACTIVE ones.
CREATE INDEX task_open ON task (state, topic, identifier, sequence) WHERE state <= 4 AND state <> 1;

-- Siblings that are READY.
CREATE INDEX task_listed ON task (topic, identifier, sequence) WHERE state = 1 AND (listed = 1 OR token > 0);

UPDATE task_schema SET version = 3;
