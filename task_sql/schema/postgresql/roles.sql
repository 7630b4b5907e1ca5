-- topiq, roles: what each kind of program needs of the tables, and no more
-- Run by their owner where they are found, after an installation and after each upgrade; to run it again is harmless.
-- Partitions need nothing of their own: they are reached through the table, also those that come later.

-- if create
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'topiq_reader', 'topiq_producer', 'topiq_deleter', 'topiq_worker', 'topiq_operator'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE 'CREATE ROLE ' || quote_ident(name) || ' NOLOGIN';
        END IF;
    END LOOP;
END $$;
-- end

DO $$
BEGIN
    EXECUTE 'GRANT USAGE ON SCHEMA ' || (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'task'::regclass)
        || ' TO topiq_reader, topiq_producer, topiq_deleter, topiq_worker, topiq_operator';
END $$;

-- What an earlier version needed may be needed no more.
REVOKE ALL ON task, task_dependency, task_topic, task_owner, task_activation, task_mutex, task_schema, task_sequence
FROM topiq_reader, topiq_producer, topiq_deleter, topiq_worker, topiq_operator;

-- How the schema was installed, and which topics there are.
GRANT SELECT ON task_schema, task_topic TO topiq_reader, topiq_producer, topiq_worker, topiq_operator;

-- Looking.
GRANT SELECT ON task, task_dependency, task_owner, task_activation TO topiq_reader, topiq_worker, topiq_operator;

-- if pretty
REVOKE ALL ON task_pretty FROM topiq_reader, topiq_producer, topiq_deleter, topiq_worker, topiq_operator;

GRANT SELECT ON task_pretty TO topiq_reader, topiq_worker, topiq_operator;
-- end

-- Pushing, and a wait for others that push, replace, join or link the same.
GRANT USAGE ON SEQUENCE task_sequence TO topiq_producer, topiq_worker, topiq_operator;

GRANT SELECT, INSERT, UPDATE, DELETE ON task_mutex TO topiq_producer, topiq_worker, topiq_operator;

GRANT INSERT (topic, sequence, identifier, input, reference, state, due) ON task
TO topiq_producer, topiq_worker, topiq_operator;

GRANT INSERT (run_topic, run_sequence, after_topic, after_sequence), UPDATE (signal) ON task_dependency
TO topiq_producer, topiq_worker, topiq_operator;

-- A producer sees who is before its tasks, not who works on them nor what came of it; a unique push returns the input
-- of the task that was there. It writes what becomes of tasks that it replaces, releases, or lets wait in vain.
GRANT
    SELECT (topic, sequence, identifier, reference, state, descent, attempt, token, due, late, waits, awaited, on_abort,
        failed, input),
    UPDATE (state, descent, completed, due, late, waits, awaited, on_abort, failed, output)
ON task TO topiq_producer;

GRANT SELECT ON task_dependency TO topiq_producer;

-- Working: the claim, the decision, and what becomes of tasks that others left. Neither writes what a task is about.
GRANT
    INSERT (origin, waits, awaited, on_abort, failed),
    UPDATE (state, descent, attempt, token, polled, completed, due, lease, late, owner, input, output, waits, awaited,
        on_abort, failed)
ON task TO topiq_worker, topiq_operator;

GRANT UPDATE (run_sequence, after_sequence) ON task_dependency TO topiq_worker, topiq_operator;

GRANT INSERT (owner), UPDATE (heartbeat), DELETE ON task_owner TO topiq_worker, topiq_operator;

-- Operating: pause, resume and purge.
GRANT INSERT (topic, active), UPDATE (active) ON task_activation TO topiq_operator;

-- Deleting tasks, by a purge or by a push that replaces them so.
GRANT DELETE ON task, task_dependency TO topiq_deleter, topiq_operator;

-- The functions do nothing that their caller may not do. By default they are everybody's to call; where they are not:
GRANT EXECUTE ON FUNCTION
    task_known(text), task_push(text, text, text, text, smallint, timestamptz, boolean)
TO topiq_producer, topiq_worker, topiq_operator;

GRANT EXECUTE ON FUNCTION
    task_poll(text, text, bigint, interval, bigint, boolean, boolean, boolean), task_probe(text, bigint), task_own(text),
    task_try(text, text, boolean),
    task_candidates(text, text, bigint, bigint, bigint, integer[], boolean, boolean, boolean),
    task_candidates_among(text, text, bigint, bigint, bigint, text[], integer[], boolean, boolean),
    task_decide(text, text, bigint[], integer, smallint, text, timestamptz),
    task_decide_claimed(text, text, bigint[], integer, smallint, text, timestamptz)
TO topiq_worker, topiq_operator;
