-- topiq, roles: what each kind of program needs of the tables, and no more
-- Run by their owner, after an installation and after each upgrade. Partitions need nothing of their own.

-- if create
CREATE ROLE topiq_reader;

CREATE ROLE topiq_producer;

CREATE ROLE topiq_deleter;

CREATE ROLE topiq_worker;

CREATE ROLE topiq_operator;
-- end

-- How the schema was installed, and which topics there are. READ is SELECT without the right to lock.
GRANT READ ON task_schema TO topiq_reader, topiq_producer, topiq_worker, topiq_operator;

GRANT READ ON task_topic TO topiq_reader, topiq_producer, topiq_worker, topiq_operator;

-- Looking.
GRANT READ ON task TO topiq_reader;

GRANT READ ON task_dependency TO topiq_reader;

GRANT READ ON task_owner TO topiq_reader;

GRANT READ ON task_activation TO topiq_reader, topiq_worker;

-- if pretty
GRANT READ ON task_pretty TO topiq_reader, topiq_worker, topiq_operator;
-- end

-- Pushing, and a wait for others that push, replace, join or link the same. Columns to read can't be chosen here.
GRANT SELECT ON task_sequence TO topiq_producer, topiq_worker, topiq_operator;

GRANT SELECT, INSERT, DELETE ON task_mutex TO topiq_producer, topiq_worker, topiq_operator;

GRANT SELECT, INSERT (topic, identifier, reference, state, due, input) ON task
TO topiq_producer, topiq_worker, topiq_operator;

GRANT SELECT, INSERT (run_topic, run_sequence, after_topic, after_sequence), UPDATE (signal) ON task_dependency
TO topiq_producer, topiq_worker, topiq_operator;

-- A producer writes what becomes of tasks that it replaces, releases, or lets wait in vain.
GRANT UPDATE (state, descent, completed, due, waits, on_abort, failed, output) ON task TO topiq_producer;

-- Working: the claim, the decision, and what becomes of tasks that others left. Neither writes what a task is about.
GRANT INSERT (sequence, origin, waits, on_abort, failed) ON task TO topiq_worker, topiq_operator;

GRANT UPDATE (
    state, descent, attempt, token, polled, completed, due, lease, owner, input, output, waits, on_abort, failed
) ON task TO topiq_worker, topiq_operator;

GRANT UPDATE (run_sequence, after_sequence) ON task_dependency TO topiq_worker, topiq_operator;

GRANT SELECT, INSERT (owner), UPDATE (heartbeat), DELETE ON task_owner TO topiq_worker, topiq_operator;

GRANT SELECT, INSERT ON task_claim TO topiq_worker, topiq_operator;

GRANT SELECT ON task_slot TO topiq_worker, topiq_operator;

-- Operating: pause, resume and purge.
GRANT SELECT, INSERT (topic, active), UPDATE (active) ON task_activation TO topiq_operator;

-- Deleting tasks, by a purge or by a push that replaces them so.
GRANT DELETE ON task TO topiq_deleter, topiq_operator;

GRANT DELETE ON task_dependency TO topiq_deleter, topiq_operator;
