-- topiq, version 1
-- Times are UTC. Each statement on a schema commits; the row in task_schema, which comes last, says that all is there.

CREATE TABLE task_schema (
    version NUMBER(10) NOT NULL,
    partitioned NUMBER(1) NOT NULL,
    notify NUMBER(1) NOT NULL,
    installed TIMESTAMP(6) DEFAULT SYS_EXTRACT_UTC(SYSTIMESTAMP) NOT NULL
);

CREATE TABLE task_topic (
    topic VARCHAR2(250 CHAR) NOT NULL,
    CONSTRAINT task_topic_key PRIMARY KEY (topic)
);

CREATE TABLE task_owner (
    owner VARCHAR2(250 CHAR) NOT NULL,
    heartbeat TIMESTAMP(6) DEFAULT SYS_EXTRACT_UTC(SYSTIMESTAMP) NOT NULL,
    registered TIMESTAMP(6) DEFAULT SYS_EXTRACT_UTC(SYSTIMESTAMP) NOT NULL,
    CONSTRAINT task_owner_key PRIMARY KEY (owner)
) PCTFREE 50 INITRANS 8;

CREATE TABLE task_activation (
    topic VARCHAR2(250 CHAR) NOT NULL,
    active NUMBER(1) NOT NULL,
    CONSTRAINT task_activation_key PRIMARY KEY (topic),
    CONSTRAINT task_activation_active CHECK (active IN (0, 1))
);

-- Whoever inserts a key holds it until the transaction ends, by the wait that a unique index brings; the row is deleted
-- in the same transaction.
CREATE TABLE task_mutex (
    hash NUMBER(19) NOT NULL,
    CONSTRAINT task_mutex_key PRIMARY KEY (hash) USING INDEX INITRANS 16
) INITRANS 16;

-- Rows to lock, never changed: a poll under a SINGULAR condition takes those that nobody has.
CREATE TABLE task_slot (
    slot NUMBER(10) NOT NULL,
    CONSTRAINT task_slot_key PRIMARY KEY (slot)
) PCTFREE 50 INITRANS 16;

INSERT INTO task_slot (slot) SELECT LEVEL - 1 FROM DUAL CONNECT BY LEVEL <= 65536;

-- What a transaction has claimed for itself; nobody else sees it, and it is gone with the transaction.
CREATE GLOBAL TEMPORARY TABLE task_claim (
    sequence NUMBER(19) NOT NULL,
    token NUMBER(10) NOT NULL,
    owner VARCHAR2(250 CHAR) NOT NULL,
    topic VARCHAR2(250 CHAR) NOT NULL,
    identifier VARCHAR2(500 CHAR) NOT NULL
) ON COMMIT DELETE ROWS;

CREATE INDEX task_claim_sequence ON task_claim (sequence, token);

CREATE INDEX task_claim_identifier ON task_claim (topic, identifier);

-- One generator for all topics. ORDER: on several instances too, a lower number was drawn earlier.
CREATE SEQUENCE task_sequence CACHE 1000 ORDER;

CREATE TABLE task (
    topic VARCHAR2(250 CHAR) NOT NULL,
    sequence NUMBER(19) DEFAULT task_sequence.NEXTVAL NOT NULL,
    state NUMBER(1) DEFAULT 1 NOT NULL,
    descent NUMBER(1) DEFAULT 1 NOT NULL,
    attempt NUMBER(10) DEFAULT 0 NOT NULL,
    token NUMBER(10) DEFAULT 0 NOT NULL,
    created TIMESTAMP(6) DEFAULT SYS_EXTRACT_UTC(SYSTIMESTAMP) NOT NULL,
    polled TIMESTAMP(6),
    completed TIMESTAMP(6),
    due TIMESTAMP(6),
    lease TIMESTAMP(6),
    origin NUMBER(19),
    identifier VARCHAR2(500 CHAR) NOT NULL,
    owner VARCHAR2(250 CHAR),
    reference VARCHAR2(500 CHAR),
    input CLOB,
    output CLOB,
    CONSTRAINT task_state CHECK (state BETWEEN 0 AND 8),
    CONSTRAINT task_descent CHECK (descent BETWEEN 1 AND 6),
-- if partitioned
    CONSTRAINT task_key PRIMARY KEY (topic, sequence) USING INDEX LOCAL
-- end
-- if not partitioned
    CONSTRAINT task_key PRIMARY KEY (topic, sequence)
-- end
) PCTFREE 30 INITRANS 16
-- if partitioned
PARTITION BY LIST (topic) AUTOMATIC (PARTITION task_none VALUES (' '))
-- end
;

-- A row whose expressions are all NULL is in no index, so that these hold the few tasks that they are for.

-- Poll: READY tasks in order.
-- if partitioned
CREATE INDEX task_ready ON task (
    CASE WHEN state = 1 THEN topic END, CASE WHEN state = 1 THEN sequence END
) INITRANS 16 LOCAL;
-- end

-- if not partitioned
CREATE INDEX task_ready ON task (
    CASE WHEN state = 1 THEN topic END, CASE WHEN state = 1 THEN sequence END
) INITRANS 16;
-- end

-- Siblings of an identifier.
-- if partitioned
CREATE INDEX task_sibling ON task (topic, identifier, state, sequence) INITRANS 16 LOCAL;
-- end

-- if not partitioned
CREATE INDEX task_sibling ON task (topic, identifier, state, sequence) INITRANS 16;
-- end

-- Expiry: tasks that somebody holds.
CREATE INDEX task_active ON task (CASE WHEN state = 0 THEN owner END) INITRANS 16;

-- Promotion: tasks that wait for a time.
CREATE INDEX task_due ON task (
    CASE WHEN state = 4 AND due IS NOT NULL THEN topic END, CASE WHEN state = 4 AND due IS NOT NULL THEN due END
);

-- Moments, which page and purge resolve to sequences.
CREATE INDEX task_created ON task (created, sequence);

CREATE INDEX task_reference ON task (reference);

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

-- if partitioned, notify
INSERT INTO task_schema (version, partitioned, notify) VALUES (1, 1, 1);
-- end

-- if partitioned, not notify
INSERT INTO task_schema (version, partitioned, notify) VALUES (1, 1, 0);
-- end

-- if not partitioned, notify
INSERT INTO task_schema (version, partitioned, notify) VALUES (1, 0, 1);
-- end

-- if not partitioned, not notify
INSERT INTO task_schema (version, partitioned, notify) VALUES (1, 0, 0);
-- end

COMMIT;
