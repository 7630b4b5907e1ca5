-- topiq, version 1

CREATE TABLE task_schema (
    version integer NOT NULL,
    partitioned boolean NOT NULL,
    notify boolean NOT NULL,
    installed timestamptz NOT NULL DEFAULT statement_timestamp()
);

-- if partitioned, notify
INSERT INTO task_schema (version, partitioned, notify) VALUES (1, true, true);
-- end

-- if partitioned, not notify
INSERT INTO task_schema (version, partitioned, notify) VALUES (1, true, false);
-- end

-- if not partitioned, notify
INSERT INTO task_schema (version, partitioned, notify) VALUES (1, false, true);
-- end

-- if not partitioned, not notify
INSERT INTO task_schema (version, partitioned, notify) VALUES (1, false, false);
-- end

CREATE TABLE task_topic (
    topic varchar(250) COLLATE "C" PRIMARY KEY
);

CREATE TABLE task_owner (
    owner varchar(250) COLLATE "C" PRIMARY KEY,
    heartbeat timestamptz NOT NULL DEFAULT statement_timestamp(),
    registered timestamptz NOT NULL DEFAULT statement_timestamp()
) WITH (fillfactor = 50);

CREATE TABLE task_activation (
    topic varchar(250) COLLATE "C" PRIMARY KEY,
    active boolean NOT NULL
);

-- Whoever inserts a key holds it until the transaction ends, by the wait that a unique index brings; the row is
-- deleted in the same transaction. Unlike advisory locks, any number of keys fits.
CREATE TABLE task_mutex (
    key bigint PRIMARY KEY
);

-- Keys that nobody locks: a table that looks empty would be read from end to end, dead rows and all.
INSERT INTO task_mutex SELECT generate_series(1, 5000);

-- As domains, because the check of a table is read and prepared anew by each statement that writes to it.
CREATE DOMAIN task_state AS smallint CHECK (VALUE BETWEEN 0 AND 8);

CREATE DOMAIN task_descent AS smallint CHECK (VALUE BETWEEN 1 AND 6);

-- One generator for all topics. CACHE 1: a number that is lower was also drawn earlier.
CREATE SEQUENCE task_sequence CACHE 1;

-- late: the sequence again while the task is READY by another way than its push; consumers that have moved on
-- find it there.
CREATE TABLE task (
    topic varchar(250) COLLATE "C" NOT NULL,
    sequence bigint NOT NULL DEFAULT nextval('task_sequence'),
    state task_state NOT NULL DEFAULT 1,
    descent task_descent NOT NULL DEFAULT 1,
    attempt integer NOT NULL DEFAULT 0,
    token integer NOT NULL DEFAULT 0,
    created timestamptz NOT NULL DEFAULT statement_timestamp(),
    polled timestamptz,
    completed timestamptz,
    due timestamptz,
    lease timestamptz,
    origin bigint,
    late bigint,
    identifier varchar(500) COLLATE "C" NOT NULL,
    owner varchar(250) COLLATE "C",
    reference varchar(500) COLLATE "C",
    input text,
    output text,
-- if partitioned
    CONSTRAINT task_key PRIMARY KEY (sequence, topic)
-- end
-- if not partitioned
    CONSTRAINT task_key PRIMARY KEY (sequence)
-- end
)
-- if partitioned
PARTITION BY LIST (topic)
-- end
-- if not partitioned
WITH (
    vacuum_truncate = false,
    autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_threshold = 2000, autovacuum_analyze_scale_factor = 0.05
)
-- end
;

-- Every change of state writes every index that the row belongs to, so there are few, and partial ones.
-- "sequence + 0", "0 + sequence" and "state + 0" keep an index to the statements that are written for it: a poll
-- can't be planned as a walk along the key past everything that is done, nor a completion as a search among the ACTIVE.
-- The key begins with the sequence, which is unique by itself: with the topic first, it would be walked wherever the
-- planner believes that there are few tasks.

-- Poll: READY tasks in order.
-- if partitioned
CREATE INDEX task_ready ON task ((sequence + 0)) WHERE state = 1;
-- end

-- if not partitioned
CREATE INDEX task_ready ON task (topic, (sequence + 0)) WHERE state = 1;
-- end

-- Poll: the lowest task that came back to READY.
-- if partitioned
CREATE INDEX task_late ON task (late) WHERE late IS NOT NULL;
-- end

-- if not partitioned
CREATE INDEX task_late ON task (topic, late) WHERE late IS NOT NULL;
-- end

-- Siblings of an identifier that are still open; expiry, which looks for the ACTIVE ones.
CREATE INDEX task_open ON task ((state + 0), identifier, (0 + sequence)) WHERE state + 0 <= 4;

-- Siblings that are finished.
CREATE INDEX task_done ON task (identifier, sequence) WHERE state >= 5;

-- Lists of a state, SUCCEEDED aside, which the key serves.
-- if partitioned
CREATE INDEX task_rare ON task (state, sequence) WHERE state IN (2, 3, 4, 5, 7, 8);
-- end

-- if not partitioned
CREATE INDEX task_rare ON task (topic, state, sequence) WHERE state IN (2, 3, 4, 5, 7, 8);
-- end

CREATE INDEX task_due ON task (due) WHERE state = 4 AND due IS NOT NULL;

CREATE INDEX task_lease ON task (lease) WHERE state = 0 AND lease IS NOT NULL;

CREATE INDEX task_reference ON task (reference, sequence) WHERE reference IS NOT NULL;

CREATE INDEX task_times ON task USING brin (created, completed) WITH (pages_per_range = 32);

-- A new table is planned for as one that is small enough to be read from end to end, and full of rare values; and a
-- prepared plan may outlive its growth. So each begins with the statistics and the size of a typical one, about a
-- hundred pages, which it keeps when it is empty (vacuum_truncate, which also spares it the lock of a truncation). The
-- thresholds let it pass for that until real tasks have come.
CREATE VIEW task_specimen AS
SELECT
    'topic ' || mod(i, 20) AS topic, -i AS sequence, 'identifier ' || i AS identifier,
    CASE WHEN i <= 10 THEN 0 WHEN i <= 60 THEN 1 WHEN i <= 70 THEN 3 WHEN i <= 80 THEN 4 WHEN i <= 90 THEN 5 ELSE 6 END
        AS state,
    CASE WHEN i NOT BETWEEN 11 AND 60 THEN 'owner ' || mod(i, 5) END AS owner,
    CASE WHEN i > 60 THEN statement_timestamp() END AS completed, repeat('specimen ', 150) AS input
FROM generate_series(1, 600) AS i;

-- if not partitioned
INSERT INTO task (topic, sequence, identifier, state, owner, completed, input)
SELECT topic, sequence, identifier, state, owner, completed, input FROM task_specimen;

ANALYZE task;

DELETE FROM task;
-- end

-- if partitioned
-- A partition is made beside the table and attached: PARTITION OF would lock out all traffic. The lock that
-- ATTACH needs comes first, so that two transactions with several new topics can't wait for each other. A
-- destroyed topic leaves its empty partition for the next one of that name: dropping it would lock the table.
CREATE FUNCTION task_initialize(new_topic text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    part text := 'task_' || left(encode(sha256(convert_to(new_topic, 'UTF8')), 'hex'), 32);
BEGIN
    IF EXISTS (SELECT FROM task_topic t WHERE t.topic = new_topic) THEN
        RETURN false;
    END IF;
    LOCK TABLE task IN SHARE UPDATE EXCLUSIVE MODE;
    INSERT INTO task_topic (topic) VALUES (new_topic) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF to_regclass(part) IS NULL THEN
        EXECUTE 'CREATE TABLE ' || quote_ident(part) || ' (LIKE task INCLUDING ALL)'
            || ' WITH (vacuum_truncate = false,'
            || ' autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02,'
            || ' autovacuum_analyze_threshold = 2000, autovacuum_analyze_scale_factor = 0.05)';
        EXECUTE 'INSERT INTO ' || quote_ident(part) || ' (topic, sequence, identifier, state, owner, completed, input)'
            || ' SELECT ' || quote_literal(new_topic) || ', sequence, identifier, state, owner, completed, input'
            || ' FROM task_specimen';
        EXECUTE 'ANALYZE ' || quote_ident(part);
        EXECUTE 'DELETE FROM ' || quote_ident(part);
        EXECUTE 'ALTER TABLE task ATTACH PARTITION ' || quote_ident(part)
            || ' FOR VALUES IN (' || quote_literal(new_topic) || ')';
    END IF;
    RETURN true;
END $$;
-- end

-- if not partitioned
CREATE FUNCTION task_initialize(new_topic text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM task_topic t WHERE t.topic = new_topic) THEN
        RETURN false;
    END IF;
    LOCK TABLE task_topic IN SHARE UPDATE EXCLUSIVE MODE;
    INSERT INTO task_topic (topic) VALUES (new_topic) ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
-- end

-- if pretty
CREATE VIEW task_pretty AS
SELECT
    topic, sequence, identifier,
    (ARRAY['ACTIVE', 'READY', 'EXPIRED', 'FAILED', 'SUSPENDED', 'FILTERED', 'SUCCEEDED', 'RECREATED', 'REDUNDANT'])
        [CASE WHEN state = 7 THEN descent ELSE state END + 1] AS state,
    (ARRAY['READY', 'EXPIRED', 'FAILED', 'SUSPENDED', 'FILTERED', 'SUCCEEDED'])[descent] AS descent,
    CASE WHEN state = 7 THEN 'YES' ELSE 'NO' END AS recreated,
    owner, attempt, token, created, polled, completed, due, lease, origin, reference, input, output
FROM task;
-- end
