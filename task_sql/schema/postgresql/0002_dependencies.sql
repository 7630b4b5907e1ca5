-- topiq, version 2: tasks that wait for others, pushes that a destruction waits for, and decisions in one step

-- waits: 1 while a task waits for others and becomes READY then, 2 while it waits for them and for a junction beside.
-- awaited: whether others wait for it, or a waiter.
-- on_abort: what happens when one that it waits for fails, given for every task that ever waited.
-- failed: how many of those failed.
ALTER TABLE task
    ADD COLUMN waits smallint,
    ADD COLUMN awaited boolean,
    ADD COLUMN on_abort smallint,
    ADD COLUMN failed integer;

-- signal: 0 while the one is waited for, 1 when it is done, 2 when it failed.
CREATE TABLE task_dependency (
    run_topic varchar(250) COLLATE "C" NOT NULL,
    run_sequence bigint NOT NULL,
    after_topic varchar(250) COLLATE "C" NOT NULL,
    after_sequence bigint NOT NULL,
    signal smallint NOT NULL DEFAULT 0 CONSTRAINT task_dependency_signal CHECK (signal BETWEEN 0 AND 2),
    CONSTRAINT task_dependency_key PRIMARY KEY (run_sequence, after_sequence)
);

CREATE INDEX task_dependency_after ON task_dependency (after_sequence);

CREATE INDEX task_dependency_waiting ON task_dependency (run_sequence) WHERE signal = 0;

-- Rows that nobody asks for: a table that looks empty would be read from end to end.
INSERT INTO task_dependency (run_topic, run_sequence, after_topic, after_sequence)
SELECT ' ', -i, ' ', -i FROM generate_series(1, 5000) AS i;

ANALYZE task_dependency;

-- Whether there is a topic to push to, which stays until this transaction ends: whoever destroys it waits for that, and
-- whoever pushes then waits for him, and looks again. Only a function does so within one statement.
CREATE FUNCTION task_known(wanted text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(wanted, 2));
    RETURN EXISTS (SELECT FROM task_topic t WHERE t.topic = wanted);
END $$;

-- Decide tasks that are held with one token, all or none: if one of them is not held, the block's savepoint undoes what
-- was done to the others. They are locked in the order of their sequences, like everywhere else, because only the key is
-- left to find them by: any other scan would lock them in the order of their places.
CREATE FUNCTION task_decide(
    of_topic text, holder text, sequences bigint[], held_token integer,
    new_state smallint, new_output text, new_due timestamptz, OUT number bigint, OUT awaited bigint[]
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    WITH decided AS (
        UPDATE task AS t SET state = new_state, output = new_output, completed = statement_timestamp(), due = new_due
        WHERE t.topic = of_topic AND t.sequence = ANY (sequences)
        AND t.state = 0 AND t.owner = holder AND t.token = held_token
        AND (t.awaited IS NULL OR current_setting('transaction_isolation') IN ('read committed', 'read uncommitted'))
        RETURNING t.sequence, t.awaited
    )
    SELECT count(*), array_agg(d.sequence) FILTER (WHERE d.awaited) INTO number, awaited FROM decided AS d;
    IF number <> cardinality(sequences) THEN
        RAISE EXCEPTION USING ERRCODE = 'TQ001';
    END IF;
EXCEPTION WHEN SQLSTATE 'TQ001' THEN
    number := 0;
    awaited := NULL;
END $$;

-- The same with tasks that this transaction has claimed for itself, which are noted in a setting of its own.
CREATE FUNCTION task_decide_claimed(
    of_topic text, holder text, sequences bigint[], held_token integer,
    new_state smallint, new_output text, new_due timestamptz, OUT number bigint, OUT awaited bigint[]
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    noted text[] := string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',');
    behind text := ':' || held_token || ':' || hashtextextended(holder, 0);
BEGIN
    WITH claimed AS MATERIALIZED (
        SELECT g.sequence FROM unnest(sequences) AS g (sequence) WHERE g.sequence || behind IN (SELECT unnest(noted))
    ),
    decided AS (
        UPDATE task AS t SET
            owner = holder, attempt = t.attempt + 1, token = t.token + 1, polled = statement_timestamp(), late = NULL,
            state = new_state, output = new_output, completed = statement_timestamp(), due = new_due
        WHERE t.topic = of_topic AND t.sequence = ANY (ARRAY(SELECT c.sequence FROM claimed AS c))
        AND t.state BETWEEN 1 AND 1 AND t.token = held_token - 1
        AND (t.awaited IS NULL OR current_setting('transaction_isolation') IN ('read committed', 'read uncommitted'))
        RETURNING t.sequence, t.awaited
    )
    SELECT count(*), array_agg(d.sequence) FILTER (WHERE d.awaited) INTO number, awaited FROM decided AS d;
    IF number <> cardinality(sequences) THEN
        RAISE EXCEPTION USING ERRCODE = 'TQ001';
    END IF;
EXCEPTION WHEN SQLSTATE 'TQ001' THEN
    number := 0;
    awaited := NULL;
END $$;

-- Expiry finds what is ACTIVE by task_open; no statement ever used this one.
DROP INDEX IF EXISTS task_lease;

UPDATE task_schema SET version = 2;
