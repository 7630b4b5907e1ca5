-- topiq, version 3: pushes, polls and decisions that each connection plans once, and keys with room

-- Push one task, and announce it if asked to; NULL for an unknown topic. A known one stays until this transaction ends, as
-- task_known sees to. The transaction has its id before the number is drawn: consumers that remember how far they have
-- come rely on it. Conditions are the way to call functions for their effect that costs least.
CREATE FUNCTION task_push(
    of_topic text, new_identifier text, new_input text, new_reference text, new_state smallint, new_due timestamptz,
    announced boolean
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
BEGIN
    IF pg_current_xact_id() IS NULL OR pg_advisory_xact_lock_shared(hashtextextended(of_topic, 2)) IS NULL THEN
        RETURN NULL;
    END IF;
    number := nextval('task_sequence');
    INSERT INTO task (topic, sequence, identifier, input, reference, state, due)
    SELECT t.topic, number, new_identifier, new_input, new_reference, new_state, new_due
    FROM task_topic AS t WHERE t.topic = of_topic;
    IF NOT FOUND OR (announced AND pg_notify('task_notification', 'WORK ' || md5(of_topic)) IS NULL) THEN
        RETURN NULL;
    END IF;
    RETURN number;
END $$;

-- The planner is left no choice in the functions that follow. It takes a topic for empty that was so when statistics
-- were taken, whatever has come since, and would read and sort all READY tasks at each poll. Where there are several
-- topics, it would plan each poll anew, because a plan for all of them looks dear, although only one is ever looked
-- into. And what looks dear would be compiled, for a hundred times as long as it takes.

-- What a start is judged by: the transaction's id if it is new and sees what others commit, the oldest id that is
-- running, the lowest READY task from the start on, and the highest.
CREATE FUNCTION task_probe(
    of_topic text, start bigint, OUT own bigint, OUT oldest bigint, OUT lowest bigint, OUT highest bigint
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    SELECT
        CASE
            WHEN pg_current_xact_id_if_assigned() IS NULL
            AND current_setting('transaction_isolation') IN ('read committed', 'read uncommitted')
            THEN CAST(CAST(pg_current_xact_id() AS text) AS bigint)
        END,
        CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint),
        (
            SELECT t.sequence FROM task AS t
            WHERE t.topic = of_topic AND t.state = 1 AND t.sequence + 0 >= start ORDER BY t.sequence + 0 LIMIT 1
        ),
        (
            SELECT t.sequence FROM task AS t
            WHERE t.topic = of_topic AND t.state = 1 ORDER BY t.sequence + 0 DESC LIMIT 1
        )
    INTO own, oldest, lowest, highest;
END $$;

-- Claim READY tasks: the oldest from the start on, which is as far as the consumers have come, or the newest. No READY
-- task lies below the start, unless it is listed as late. Those that are kept are claimed by a lock that ends with the
-- transaction, and are noted in a setting of its own. Whoever wants to look how far the consumers have come gets that in a
-- row before the others, as an array of what task_probe tells; what it passed over is not passed over again.
CREATE FUNCTION task_poll(
    of_topic text, holder text, size bigint, span interval, start bigint, newest boolean, kept boolean,
    look boolean
) RETURNS TABLE (sequence bigint, identifier varchar, input text, attempt integer, token integer, failed integer)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
    noted text[] := string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',');
    beginning bigint := start;
    chosen bigint[];
BEGIN
    IF look THEN
        SELECT 0, to_json(ARRAY[p.own, p.oldest, p.lowest, p.highest]), coalesce(p.lowest, start)
        INTO sequence, input, beginning FROM task_probe(of_topic, start) AS p;
        RETURN NEXT;
    END IF;
    IF newest THEN
        chosen := ARRAY(
            SELECT t.sequence FROM task AS t
            WHERE t.topic = of_topic AND t.state = 1 AND EXISTS (SELECT FROM task_owner AS o WHERE o.owner = holder)
            AND (noted IS NULL OR concat(t.sequence, ':', t.token + 1) NOT IN (
                SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(noted) AS e))
            ORDER BY t.sequence + 0 DESC LIMIT size
            FOR NO KEY UPDATE OF t SKIP LOCKED);
    ELSE
        chosen := ARRAY(
            SELECT t.sequence FROM task AS t
            WHERE t.topic = of_topic AND t.state = 1 AND EXISTS (SELECT FROM task_owner AS o WHERE o.owner = holder)
            AND (noted IS NULL OR concat(t.sequence, ':', t.token + 1) NOT IN (
                SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest(noted) AS e))
            AND t.sequence + 0 >= (
                SELECT least(beginning, min(l.late)) FROM task AS l WHERE l.topic = of_topic AND l.late IS NOT NULL)
            ORDER BY t.sequence + 0 LIMIT size
            FOR NO KEY UPDATE OF t SKIP LOCKED);
    END IF;
    IF kept THEN
        RETURN QUERY WITH claimed AS MATERIALIZED (
            SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed
            FROM task AS t WHERE t.topic = of_topic AND t.sequence = ANY (chosen)
        ),
        note AS MATERIALIZED (
            SELECT set_config('topiq.claimed', concat_ws(
                ',', array_to_string(noted, ','),
                string_agg(array_to_string(a.sequences, a.behind || ',') || a.behind, ',')), true)
            FROM (
                SELECT concat(':', c.token, ':', hashtextextended(holder, 0)) AS behind, array_agg(c.sequence) AS sequences
                FROM claimed AS c GROUP BY c.token
            ) AS a
        )
        SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN note;
    ELSE
        RETURN QUERY UPDATE task AS t SET
            state = 0, owner = holder, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
            polled = statement_timestamp(), lease = statement_timestamp() + span
        WHERE t.topic = of_topic AND t.sequence = ANY (chosen)
        RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed;
    END IF;
END $$;

-- The identifiers of READY tasks that this transaction has claimed for itself, or NULL.
CREATE FUNCTION task_own(of_topic text) RETURNS varchar[] LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    noted text[] := string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',');
BEGIN
    RETURN CASE WHEN noted IS NOT NULL THEN ARRAY(
        SELECT t.identifier
        FROM unnest(noted) AS e
        CROSS JOIN LATERAL (
            SELECT t.identifier, t.token FROM task AS t
            WHERE t.topic = of_topic AND t.sequence = CAST(split_part(e, ':', 1) AS bigint)
            AND CAST(t.state AS integer) = 1 OFFSET 0
        ) AS t
        WHERE t.token + 1 = CAST(split_part(e, ':', 2) AS integer)) END;
END $$;

-- Lock an identifier if that can be had at once: by itself, beside a shared lock on its group, or the group as a whole.
CREATE FUNCTION task_try(of_topic text, of_identifier text, single boolean) RETURNS boolean LANGUAGE sql AS $$
SELECT CASE
    WHEN single THEN
        pg_try_advisory_xact_lock_shared(hashtextextended(of_topic, 4)
            + (hashtextextended(of_identifier, hashtextextended(of_topic, 3)) & 255))
        AND pg_try_advisory_xact_lock(hashtextextended(of_identifier, hashtextextended(of_topic, 3)))
    ELSE
        pg_try_advisory_xact_lock(hashtextextended(of_topic, 4)
            + (hashtextextended(of_identifier, hashtextextended(of_topic, 3)) & 255))
END
$$;

-- Find READY tasks that no sibling blocks, and lock their identifiers as far as that can be had at once. A sibling blocks
-- a task by being in one of some states, or READY and before it. "low" is where to look from, if not the start. Tasks are
-- looked through in ever larger chunks, and only the first of each identifier in a chunk is judged: there may be few
-- identifiers with long queues. If asked again, because somebody had locked some of the tasks, those are passed over: not
-- all that there are, since their identifiers stay locked.
CREATE FUNCTION task_candidates(
    of_topic text, holder text, size bigint, start bigint, low bigint, blocking integer[], newest boolean,
    single boolean, again boolean
) RETURNS SETOF bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan
SET jit = off AS $$
DECLARE
    own varchar[] := task_own(of_topic);
    beginning bigint := (
        SELECT least(start, min(l.late)) FROM task AS l WHERE l.topic = of_topic AND l.late IS NOT NULL);
    nearest bigint := coalesce(low, beginning);
    farthest bigint := 9223372036854775807;
    most bigint := greatest(size, 10);
    chunk bigint;
    firsts bigint[];
    names varchar[];
    slice integer;
    free bigint[];
    free_names varchar[];
    wanted bigint := size;
    tries bigint := CASE WHEN again THEN size + 1000 END;
    number bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM task_owner AS o WHERE o.owner = holder) THEN
        RETURN;
    END IF;
    LOOP
        IF newest THEN
            SELECT array_agg(g.first ORDER BY g.first DESC), array_agg(g.identifier ORDER BY g.first DESC),
                sum(g.number), min(g.last) - 1
            INTO firsts, names, chunk, farthest
            FROM (
                SELECT max(w.sequence) AS first, min(w.sequence) AS last, w.identifier, count(*) AS number
                FROM (
                    SELECT t.sequence, t.identifier FROM task AS t
                    WHERE t.topic = of_topic AND t.state = 1 AND t.sequence + 0 <= farthest
                    ORDER BY t.sequence + 0 DESC LIMIT most
                ) AS w
                GROUP BY w.identifier
            ) AS g;
        ELSE
            SELECT array_agg(g.first ORDER BY g.first), array_agg(g.identifier ORDER BY g.first),
                sum(g.number), max(g.last) + 1
            INTO firsts, names, chunk, nearest
            FROM (
                SELECT min(w.sequence) AS first, max(w.sequence) AS last, w.identifier, count(*) AS number
                FROM (
                    SELECT t.sequence, t.identifier FROM task AS t
                    WHERE t.topic = of_topic AND t.state = 1 AND t.sequence + 0 >= nearest
                    ORDER BY t.sequence + 0 LIMIT most
                ) AS w
                GROUP BY w.identifier
            ) AS g;
        END IF;
        -- As many are judged at a time as may be wanted.
        WHILE cardinality(firsts) > 0 LOOP
            slice := least(2 * wanted, cardinality(firsts));
            SELECT array_agg(c.sequence), array_agg(c.identifier) INTO free, free_names
            FROM (
                SELECT t.sequence, t.identifier FROM unnest(firsts[1:slice], names[1:slice]) AS t (sequence, identifier)
                WHERE (own IS NULL OR t.identifier NOT IN (SELECT unnest(own)))
                AND (
                    SELECT 1 FROM task AS s
                    WHERE s.topic = of_topic AND s.state + 0 = ANY (blocking) AND s.state + 0 <= 4
                    AND s.identifier = t.identifier LIMIT 1
                ) IS NULL
                AND (
                    SELECT 1 FROM task AS s
                    WHERE s.topic = of_topic AND s.state + 0 = 1 AND s.identifier = t.identifier
                    AND 0 + s.sequence >= CASE WHEN newest THEN t.sequence + 1 ELSE beginning END
                    AND 0 + s.sequence < CASE WHEN newest THEN 9223372036854775807 ELSE t.sequence END LIMIT 1
                ) IS NULL
                LIMIT tries
            ) AS c;
            RETURN QUERY SELECT c.sequence
            FROM unnest(free, free_names) AS c (sequence, identifier)
            WHERE CASE
                WHEN NOT task_try(of_topic, c.identifier, single) THEN false
                WHEN again THEN (
                    SELECT x.sequence FROM task AS x
                    WHERE x.topic = of_topic AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
                    FOR NO KEY UPDATE SKIP LOCKED
                ) IS NOT NULL
                ELSE true
            END
            LIMIT wanted;
            GET DIAGNOSTICS number = ROW_COUNT;
            wanted := wanted - number;
            tries := tries - coalesce(cardinality(free), 0);
            IF wanted = 0 OR tries = 0 THEN
                RETURN;
            END IF;
            firsts := firsts[slice + 1:];
            names := names[slice + 1:];
        END LOOP;
        EXIT WHEN chunk IS NULL OR chunk < most;
        most := least(4 * most, greatest(size, 20000));
    END LOOP;
END $$;

-- Do so below a bound, among some identifiers, whose first READY tasks are asked for, and among late tasks. An index gives
-- all READY tasks of an identifier that lie on one page, so that first there is a look at those that are near. Of late
-- tasks some are looked at first, and more where others have those.
CREATE FUNCTION task_candidates_among(
    of_topic text, holder text, size bigint, start bigint, bound bigint, identifiers text[], blocking integer[],
    single boolean, again boolean
) RETURNS SETOF bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan
SET jit = off AS $$
DECLARE
    own varchar[] := task_own(of_topic);
    beginning bigint := (
        SELECT least(start, min(l.late)) FROM task AS l WHERE l.topic = of_topic AND l.late IS NOT NULL);
    near bigint := least(bound, start + 16 * cardinality(identifiers));
    most bigint := 2 * size;
    came_back bigint[];
    chosen bigint[];
BEGIN
    IF NOT EXISTS (SELECT FROM task_owner AS o WHERE o.owner = holder) THEN
        RETURN;
    END IF;
    LOOP
        came_back := ARRAY(
            SELECT t.sequence FROM task AS t
            WHERE t.topic = of_topic AND t.late IS NOT NULL AND t.late < bound AND CAST(t.state AS integer) = 1
            AND (own IS NULL OR t.identifier NOT IN (SELECT unnest(own)))
            AND (
                SELECT 1 FROM task AS s
                WHERE s.topic = of_topic AND s.state + 0 = ANY (blocking) AND s.state + 0 <= 4
                AND s.identifier = t.identifier LIMIT 1
            ) IS NULL
            AND (
                SELECT 1 FROM task AS s
                WHERE s.topic = of_topic AND s.state + 0 = 1 AND s.identifier = t.identifier
                AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= beginning LIMIT 1
            ) IS NULL
            ORDER BY t.late LIMIT most);
        chosen := ARRAY(SELECT c.sequence
        FROM (
            SELECT t.sequence, t.identifier
            FROM unnest(identifiers) AS i (identifier)
            CROSS JOIN LATERAL (
                SELECT f.sequence, i.identifier
                FROM (
                    (SELECT t.sequence FROM task AS t
                    WHERE t.topic = of_topic AND t.state + 0 = 1 AND t.identifier = i.identifier
                    AND 0 + t.sequence >= beginning AND 0 + t.sequence < near
                    ORDER BY 0 + t.sequence LIMIT 1)
                    UNION ALL
                    (SELECT t.sequence FROM task AS t
                    WHERE t.topic = of_topic AND t.state + 0 = 1 AND t.identifier = i.identifier
                    AND 0 + t.sequence >= near AND 0 + t.sequence < bound
                    ORDER BY 0 + t.sequence LIMIT 1)
                ) AS f LIMIT 1
            ) AS t
            WHERE (own IS NULL OR t.identifier NOT IN (SELECT unnest(own)))
            AND (
                SELECT 1 FROM task AS s
                WHERE s.topic = of_topic AND s.state + 0 = ANY (blocking) AND s.state + 0 <= 4
                AND s.identifier = t.identifier LIMIT 1
            ) IS NULL
            UNION
            SELECT t.sequence, t.identifier FROM task AS t WHERE t.topic = of_topic AND t.sequence = ANY (came_back)
            ORDER BY sequence LIMIT CASE WHEN again THEN size + 1000 END
        ) AS c
        WHERE CASE
            WHEN NOT task_try(of_topic, c.identifier, single) THEN false
            WHEN again THEN (
                SELECT x.sequence FROM task AS x
                WHERE x.topic = of_topic AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
                FOR NO KEY UPDATE SKIP LOCKED
            ) IS NOT NULL
            ELSE true
        END
        LIMIT size);
        EXIT WHEN cardinality(chosen) = size OR cardinality(came_back) < most;
        most := 8 * most;
    END LOOP;
    RETURN QUERY SELECT unnest(chosen);
END $$;

-- Decisions are planned once as well.
ALTER FUNCTION task_decide(text, text, bigint[], integer, smallint, text, timestamptz)
SET plan_cache_mode = force_generic_plan;

ALTER FUNCTION task_decide(text, text, bigint[], integer, smallint, text, timestamptz) SET jit = off;

-- A batch that is decided as it was polled is noted just so; of others, each task is looked for.
CREATE OR REPLACE FUNCTION task_decide_claimed(
    of_topic text, holder text, sequences bigint[], held_token integer,
    new_state smallint, new_output text, new_due timestamptz, OUT number bigint, OUT awaited bigint[]
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    noted text := current_setting('topiq.claimed', true);
    behind text := concat(':', held_token, ':', hashtextextended(holder, 0));
    own bigint[] := sequences;
BEGIN
    IF noted IS DISTINCT FROM array_to_string(sequences, behind || ',') || behind THEN
        own := ARRAY(
            SELECT g.sequence FROM unnest(sequences) AS g (sequence)
            WHERE g.sequence || behind IN (SELECT unnest(string_to_array(noted, ','))));
    END IF;
    WITH decided AS (
        UPDATE task AS t SET
            owner = holder, attempt = t.attempt + 1, token = t.token + 1, polled = statement_timestamp(), late = NULL,
            state = new_state, output = new_output, completed = statement_timestamp(), due = new_due
        WHERE t.topic = of_topic AND t.sequence = ANY (own)
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

-- A plan for all topics locks all their partitions, and takes memory for each in each connection. Where there are many,
-- plans are made for one topic at each call. Whoever finds so first sees to it; others leave it to him.
CREATE FUNCTION task_plan() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    fixed regprocedure[] := ARRAY(
        SELECT p.oid FROM pg_proc AS p JOIN pg_class AS c ON c.relnamespace = p.pronamespace
        WHERE c.oid = CAST('task' AS regclass)
        AND p.proname IN ('task_poll', 'task_probe', 'task_own', 'task_candidates', 'task_candidates_among', 'task_decide',
            'task_decide_claimed')
        AND 'plan_cache_mode=force_generic_plan' = ANY (p.proconfig) AND pg_has_role(p.proowner, 'USAGE'));
    function regprocedure;
BEGIN
    IF cardinality(fixed) > 0
    AND (SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('task' AS regclass)) > 32
    AND pg_try_advisory_xact_lock(hashtextextended('topiq plans', 0)) THEN
        FOREACH function IN ARRAY fixed LOOP
            EXECUTE 'ALTER FUNCTION ' || function || ' SET plan_cache_mode = force_custom_plan';
        END LOOP;
    END IF;
END $$;

SELECT task_plan();

-- The pages of the key have room for the entries that a claim and a decision add, which would split them otherwise, and
-- would leave them as empty.
-- if not partitioned
ALTER INDEX task_key SET (fillfactor = 40);
-- end

-- if partitioned
-- As in version 1, but for the room, and for the place: beside the table, whatever else is on the search path.
CREATE OR REPLACE FUNCTION task_initialize(new_topic text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    home text := (SELECT CAST(relnamespace AS regnamespace) FROM pg_class WHERE oid = CAST('task' AS regclass));
    part text := home || '.task_' || left(encode(sha256(convert_to(new_topic, 'UTF8')), 'hex'), 32);
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
        EXECUTE 'CREATE TABLE ' || part || ' (LIKE task INCLUDING ALL)'
            || ' WITH (vacuum_truncate = false,'
            || ' autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02,'
            || ' autovacuum_analyze_threshold = 2000, autovacuum_analyze_scale_factor = 0.05)';
        PERFORM task_loosen(CAST(part AS regclass));
        EXECUTE 'INSERT INTO ' || part || ' (topic, sequence, identifier, state, owner, completed, input)'
            || ' SELECT ' || quote_literal(new_topic) || ', sequence, identifier, state, owner, completed, input'
            || ' FROM task_specimen';
        EXECUTE 'ANALYZE ' || part;
        EXECUTE 'DELETE FROM ' || part;
        EXECUTE 'ALTER TABLE task ATTACH PARTITION ' || part
            || ' FOR VALUES IN (' || quote_literal(new_topic) || ')';
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION task_loosen(part regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'ALTER INDEX ' || (
        SELECT CAST(i.indexrelid AS regclass) FROM pg_index AS i WHERE i.indrelid = part AND i.indisprimary)
        || ' SET (fillfactor = 40)';
END $$;

SELECT task_loosen(CAST(inhrelid AS regclass)) FROM pg_inherits WHERE inhparent = CAST('task' AS regclass);
-- end

UPDATE task_schema SET version = 3;
