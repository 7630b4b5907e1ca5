-- topiq, version 2: tasks that wait for others

-- signal: 0 while the one is waited for, 1 when it is done, 2 when it failed.
CREATE TABLE task_dependency (
    run_topic VARCHAR2(250 CHAR) NOT NULL,
    run_sequence NUMBER(19) NOT NULL,
    after_topic VARCHAR2(250 CHAR) NOT NULL,
    after_sequence NUMBER(19) NOT NULL,
    signal NUMBER(1) DEFAULT 0 NOT NULL,
    CONSTRAINT task_dependency_signal CHECK (signal BETWEEN 0 AND 2),
    CONSTRAINT task_dependency_key PRIMARY KEY (run_sequence, after_sequence)
) INITRANS 16;

CREATE INDEX task_dependency_after ON task_dependency (after_sequence) INITRANS 16;

CREATE INDEX task_dependency_waiting ON task_dependency (CASE WHEN signal = 0 THEN run_sequence END) INITRANS 16;

-- waits: 1 while a task waits for others and becomes READY then, 2 while it waits for them and for a junction beside.
-- on_abort: what happens when one that it waits for fails, given for every task that ever waited.
-- failed: how many of those failed.
ALTER TABLE task ADD (waits NUMBER(1), on_abort NUMBER(1), failed NUMBER(10));

UPDATE task_schema SET version = 2;

COMMIT;
