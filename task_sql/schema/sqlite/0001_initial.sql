-- topiq, version 1
-- Times are UTC text, "YYYY-MM-DD HH:MM:SS.SSS", so that they sort as they read.

CREATE TABLE task_schema (
    version INTEGER NOT NULL,
    partitioned INTEGER NOT NULL DEFAULT 0,
    notify INTEGER NOT NULL DEFAULT 0,
    installed TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))
);

INSERT INTO task_schema (version) VALUES (1);

CREATE TABLE task_topic (
    topic TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE task_owner (
    owner TEXT NOT NULL PRIMARY KEY,
    heartbeat TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
    registered TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))
) WITHOUT ROWID;

CREATE TABLE task_activation (
    topic TEXT NOT NULL PRIMARY KEY,
    active INTEGER NOT NULL CHECK (active IN (0, 1))
) WITHOUT ROWID;

-- if not fresh
-- Databases from before version 3 count by AUTOINCREMENT, and go on to.
-- end
CREATE TABLE task (
-- if fresh
    sequence INTEGER PRIMARY KEY,
-- end
-- if not fresh
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
-- end
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
    reference TEXT,
    input TEXT,
    output TEXT
);

-- if not fresh
INSERT INTO sqlite_sequence (name, seq) VALUES ('task', 0);
-- end

-- Poll: READY tasks in order.
CREATE INDEX task_ready ON task (topic, sequence) WHERE state = 1;

-- Siblings of an identifier that are still open; expiry, which looks for the ACTIVE ones.
CREATE INDEX task_open ON task (state, topic, identifier, sequence) WHERE state <= 4;

-- Siblings that are finished.
CREATE INDEX task_done ON task (topic, identifier, sequence) WHERE state >= 5;

-- Lists of a state, SUCCEEDED aside, which the order of the table serves.
CREATE INDEX task_rare ON task (topic, state, sequence) WHERE state IN (2, 3, 4, 5, 7, 8);

CREATE INDEX task_due ON task (topic, due) WHERE state = 4 AND due IS NOT NULL;

CREATE INDEX task_lease ON task (lease) WHERE state = 0 AND lease IS NOT NULL;

CREATE INDEX task_reference ON task (topic, reference, sequence) WHERE reference IS NOT NULL;

-- if pretty
CREATE VIEW task_pretty AS
SELECT
    topic, sequence, identifier,
    CASE CASE state WHEN 7 THEN descent ELSE state END
        WHEN 0 THEN 'ACTIVE' WHEN 1 THEN 'READY' WHEN 2 THEN 'EXPIRED' WHEN 3 THEN 'FAILED' WHEN 4 THEN 'SUSPENDED'
        WHEN 5 THEN 'FILTERED' WHEN 6 THEN 'SUCCEEDED' WHEN 8 THEN 'REDUNDANT'
    END AS state,
    CASE descent
        WHEN 1 THEN 'READY' WHEN 2 THEN 'EXPIRED' WHEN 3 THEN 'FAILED' WHEN 4 THEN 'SUSPENDED'
        WHEN 5 THEN 'FILTERED' WHEN 6 THEN 'SUCCEEDED'
    END AS descent,
    CASE state WHEN 7 THEN 'YES' ELSE 'NO' END AS recreated,
    owner, attempt, token, created, polled, completed, due, lease, origin, reference, input, output
FROM task;
-- end
