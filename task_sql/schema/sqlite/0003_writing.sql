-- topiq, version 3: pushes write two pages less
-- The table is made anew, so the file needs room for a second copy of the tasks while this runs. Tables of your own that
-- refer to it: send PRAGMA foreign_keys = OFF before the transaction.

-- The highest number of a task that is gone: no number is ever used twice, also when the last task was deleted. Unlike
-- that of AUTOINCREMENT it is written when that happens, not at each push.
CREATE TABLE task_number (
    last INTEGER NOT NULL
);

INSERT INTO task_number (last) SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'task';

-- listed: 1 when a task that waits since its push was entered into task_open. Only who looks for tasks by identifier
-- enters them there; see task_sql/sqlite/listed.py.
CREATE TABLE task_new (
    sequence INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    identifier TEXT NOT NULL,
    state INTEGER NOT NULL DEFAULT 1 CHECK (state BETWEEN 0 AND 8),
    descent INTEGER NOT NULL DEFAULT 1 CHECK (descent BETWEEN 1 AND 6),
    owner TEXT,
    attempt INTEGER NOT NULL DEFAULT 0,
    token INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
    polled TEXT,
    completed TEXT,
    due TEXT,
    lease TEXT,
    origin INTEGER,
    listed INTEGER NOT NULL DEFAULT 0,
    waits INTEGER,
    on_abort INTEGER,
    failed INTEGER,
    reference TEXT,
    input TEXT,
    output TEXT
);

INSERT INTO task_new (
    sequence, topic, identifier, state, descent, owner, attempt, token, created, polled, completed, due, lease, origin,
    listed, waits, on_abort, failed, reference, input, output)
SELECT
    sequence, topic, identifier, state, descent, owner, attempt, token, created, polled, completed, due, lease, origin,
    1, waits, on_abort, failed, reference, input, output
FROM task ORDER BY sequence;

DROP TABLE task;

-- What refers to the table by its name, such as a view, is left as it is.
PRAGMA legacy_alter_table = ON;

ALTER TABLE task_new RENAME TO task;

PRAGMA legacy_alter_table = OFF;

CREATE TRIGGER task_deleted BEFORE DELETE ON task WHEN old.sequence = (SELECT max(sequence) FROM task)
BEGIN
    UPDATE task_number SET last = old.sequence WHERE last < old.sequence;
END;

-- Poll: READY tasks in order.
CREATE INDEX task_ready ON task (topic, sequence) WHERE state = 1;

-- Siblings of an identifier that are still open, READY ones when they are listed; expiry, which looks for the ACTIVE ones.
CREATE INDEX task_open ON task (state, topic, identifier, sequence)
WHERE state <= 4 AND (listed = 1 OR token > 0 OR state <> 1);

-- Siblings that are finished.
CREATE INDEX task_done ON task (topic, identifier, sequence) WHERE state >= 5;

-- Lists of a state, SUCCEEDED aside, which the order of the table serves.
CREATE INDEX task_rare ON task (topic, state, sequence) WHERE state > 1 AND state <> 6;

CREATE INDEX task_due ON task (topic, due) WHERE state = 4 AND due IS NOT NULL;

CREATE INDEX task_reference ON task (topic, reference, sequence) WHERE reference IS NOT NULL;

-- READY tasks of the topic up to this number are in task_open.
ALTER TABLE task_topic ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;

UPDATE task_schema SET version = 3;
