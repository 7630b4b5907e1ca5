-- topiq, version 2: tasks that wait for others

-- waits: 1 while a task waits for others and becomes READY then, 2 while it waits for them and for a junction beside.
ALTER TABLE task ADD COLUMN waits INTEGER;

-- on_abort: what happens when one that it waits for fails, given for every task that ever waited.
ALTER TABLE task ADD COLUMN on_abort INTEGER;

-- failed: how many of those failed.
ALTER TABLE task ADD COLUMN failed INTEGER;

-- signal: 0 while the one is waited for, 1 when it is done, 2 when it failed.
CREATE TABLE task_dependency (
    run_topic TEXT NOT NULL,
    run_sequence INTEGER NOT NULL,
    after_topic TEXT NOT NULL,
    after_sequence INTEGER NOT NULL,
    signal INTEGER NOT NULL DEFAULT 0 CHECK (signal BETWEEN 0 AND 2),
    PRIMARY KEY (run_sequence, after_sequence)
) WITHOUT ROWID;

CREATE INDEX task_dependency_after ON task_dependency (after_sequence);

CREATE INDEX task_dependency_waiting ON task_dependency (run_sequence) WHERE signal = 0;

-- The same tasks as before, told by two comparisons instead of six: every write judges them.
DROP INDEX IF EXISTS task_rare;

CREATE INDEX task_rare ON task (topic, state, sequence) WHERE state > 1 AND state <> 6;

-- Expiry finds what is ACTIVE by task_open; no statement ever used this one.
DROP INDEX IF EXISTS task_lease;

UPDATE task_schema SET version = 2;
