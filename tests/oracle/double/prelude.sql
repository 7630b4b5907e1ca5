-- What Oracle has and PostgreSQL lacks, in the schema "ora", which is searched before PostgreSQL's own.

CREATE SCHEMA ora;
CREATE SCHEMA temporary;
SET search_path = public, ora, pg_catalog;

-- CLOB: a type of its own, so that a result tells it from VARCHAR2, and so that it can't be compared or grouped.
CREATE TYPE ora.clob;
CREATE FUNCTION ora.clob_in(cstring) RETURNS ora.clob LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION ora.clob_out(ora.clob) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE TYPE ora.clob (INPUT = ora.clob_in, OUTPUT = ora.clob_out, LIKE = text, STORAGE = extended);
CREATE CAST (text AS ora.clob) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (varchar AS ora.clob) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (ora.clob AS text) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (ora.clob AS varchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE FUNCTION ora.to_clob(text) RETURNS ora.clob IMMUTABLE RETURN CAST($1 AS ora.clob);
CREATE FUNCTION ora.to_clob(ora.clob) RETURNS ora.clob IMMUTABLE RETURN $1;
CREATE FUNCTION ora.to_char(ora.clob) RETURNS text IMMUTABLE RETURN CAST($1 AS text);
CREATE FUNCTION ora.length(ora.clob) RETURNS integer IMMUTABLE RETURN length(CAST($1 AS text));
CREATE FUNCTION ora.substr(ora.clob, bigint, bigint) RETURNS ora.clob IMMUTABLE
    RETURN CAST(nullif(substr(CAST($1 AS text), CAST($2 AS integer), CAST($3 AS integer)), '') AS ora.clob);
CREATE SCHEMA dbms_lob;
CREATE FUNCTION dbms_lob.getlength(ora.clob) RETURNS integer IMMUTABLE RETURN length(CAST($1 AS text));
CREATE FUNCTION dbms_lob.substr(ora.clob, bigint DEFAULT 32767, bigint DEFAULT 1) RETURNS text IMMUTABLE
    RETURN nullif(substr(CAST($1 AS text), CAST($3 AS integer), CAST($2 AS integer)), '');
CREATE FUNCTION dbms_lob.compare(ora.clob, ora.clob) RETURNS integer IMMUTABLE
    RETURN CASE
        WHEN CAST($1 AS text) < CAST($2 AS text) THEN -1 WHEN CAST($1 AS text) > CAST($2 AS text) THEN 1
        WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN 0
    END;

-- The empty text is NULL, and NULL is an empty text in a concatenation.
CREATE FUNCTION ora.joined(text, text) RETURNS text IMMUTABLE
    RETURN CASE WHEN $1 IS NULL THEN $2 WHEN $2 IS NULL THEN $1 ELSE textcat($1, $2) END;
CREATE FUNCTION ora.joined(ora.clob, ora.clob) RETURNS ora.clob IMMUTABLE
    RETURN CAST(ora.joined(CAST($1 AS text), CAST($2 AS text)) AS ora.clob);
CREATE FUNCTION ora.joined(ora.clob, text) RETURNS ora.clob IMMUTABLE
    RETURN CAST(ora.joined(CAST($1 AS text), $2) AS ora.clob);
CREATE FUNCTION ora.joined(text, ora.clob) RETURNS ora.clob IMMUTABLE
    RETURN CAST(ora.joined($1, CAST($2 AS text)) AS ora.clob);
CREATE FUNCTION ora.joined(text, anynonarray) RETURNS text IMMUTABLE LANGUAGE sql
    AS 'SELECT ora.joined($1, CAST($2 AS text))';
CREATE FUNCTION ora.joined(anynonarray, text) RETURNS text IMMUTABLE LANGUAGE sql
    AS 'SELECT ora.joined(CAST($1 AS text), $2)';
CREATE OPERATOR ora.|| (FUNCTION = ora.joined, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR ora.|| (FUNCTION = ora.joined, LEFTARG = ora.clob, RIGHTARG = ora.clob);
CREATE OPERATOR ora.|| (FUNCTION = ora.joined, LEFTARG = ora.clob, RIGHTARG = text);
CREATE OPERATOR ora.|| (FUNCTION = ora.joined, LEFTARG = text, RIGHTARG = ora.clob);
CREATE OPERATOR ora.|| (FUNCTION = ora.joined, LEFTARG = text, RIGHTARG = anynonarray);
CREATE OPERATOR ora.|| (FUNCTION = ora.joined, LEFTARG = anynonarray, RIGHTARG = text);
CREATE FUNCTION ora.substr(text, bigint) RETURNS text IMMUTABLE
    RETURN nullif(substr($1, CAST($2 AS integer)), '');
CREATE FUNCTION ora.substr(text, bigint, bigint) RETURNS text IMMUTABLE
    RETURN nullif(substr($1, CAST($2 AS integer), CAST($3 AS integer)), '');
CREATE FUNCTION ora.instr(text, text) RETURNS integer IMMUTABLE RETURN strpos($1, $2);
CREATE FUNCTION ora.lengthb(text) RETURNS integer IMMUTABLE RETURN octet_length($1);

-- Numbers: a quotient has a fraction.
CREATE FUNCTION ora.quotient(bigint, bigint) RETURNS numeric IMMUTABLE RETURN CAST($1 AS numeric) / $2;
CREATE FUNCTION ora.quotient(integer, integer) RETURNS numeric IMMUTABLE RETURN CAST($1 AS numeric) / $2;
CREATE OPERATOR ora./ (FUNCTION = ora.quotient, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR ora./ (FUNCTION = ora.quotient, LEFTARG = integer, RIGHTARG = integer);
CREATE FUNCTION ora.to_number(text) RETURNS numeric IMMUTABLE RETURN CAST($1 AS numeric);
CREATE FUNCTION ora.to_char(numeric) RETURNS text IMMUTABLE RETURN CAST($1 AS text);
CREATE FUNCTION ora.greatest(VARIADIC anycompatiblearray) RETURNS anycompatible IMMUTABLE LANGUAGE sql
    AS 'SELECT CASE WHEN array_position($1, NULL) IS NULL THEN (SELECT max(e) FROM unnest($1) AS e) END';
CREATE FUNCTION ora.least(VARIADIC anycompatiblearray) RETURNS anycompatible IMMUTABLE LANGUAGE sql
    AS 'SELECT CASE WHEN array_position($1, NULL) IS NULL THEN (SELECT min(e) FROM unnest($1) AS e) END';

-- Choices.
CREATE FUNCTION ora.nvl(anycompatible, anycompatible) RETURNS anycompatible IMMUTABLE LANGUAGE sql
    AS 'SELECT coalesce($1, $2)';
CREATE FUNCTION ora.nvl2(anyelement, anycompatible, anycompatible) RETURNS anycompatible IMMUTABLE LANGUAGE sql
    AS 'SELECT CASE WHEN $1 IS NULL THEN $3 ELSE $2 END';
CREATE FUNCTION ora.decode(anyelement, anyelement, anycompatible, anycompatible DEFAULT NULL)
    RETURNS anycompatible IMMUTABLE LANGUAGE sql
    AS 'SELECT CASE WHEN $1 IS NOT DISTINCT FROM $2 THEN $3 ELSE $4 END';
CREATE FUNCTION ora.decode(
    anyelement, anyelement, anycompatible, anyelement, anycompatible, anycompatible DEFAULT NULL)
    RETURNS anycompatible IMMUTABLE LANGUAGE sql AS '
    SELECT CASE WHEN $1 IS NOT DISTINCT FROM $2 THEN $3 WHEN $1 IS NOT DISTINCT FROM $4 THEN $5 ELSE $6 END';

-- Times. The host's zone is not UTC, so that what forgets about it is found out.
CREATE FUNCTION ora.sys_extract_utc(timestamptz) RETURNS timestamp IMMUTABLE RETURN $1 AT TIME ZONE 'UTC';
CREATE FUNCTION ora.sysdate() RETURNS timestamp(0) STABLE
    RETURN date_trunc('second', CAST(statement_timestamp() AS timestamp));
CREATE FUNCTION ora.numtodsinterval(numeric, text) RETURNS interval IMMUTABLE RETURN CASE upper($2)
    WHEN 'SECOND' THEN make_interval(secs => CAST($1 AS double precision))
    WHEN 'MINUTE' THEN make_interval(secs => CAST($1 * 60 AS double precision))
    WHEN 'HOUR' THEN make_interval(secs => CAST($1 * 3600 AS double precision))
    WHEN 'DAY' THEN make_interval(secs => CAST($1 * 86400 AS double precision))
END;
CREATE FUNCTION ora.to_timestamp(text, text) RETURNS timestamp STABLE
    RETURN CAST(pg_catalog.to_timestamp($1, $2) AS timestamp);

-- The dictionary, as far as somebody asks.
CREATE VIEW ora.dual AS SELECT CAST('X' AS varchar(1)) AS dummy;
CREATE TABLE ora.v$option (parameter varchar(64), value varchar(64));
INSERT INTO ora.v$option VALUES ('Partitioning', 'TRUE');
CREATE VIEW ora.v$parameter AS SELECT CAST('compatible' AS varchar) AS name, CAST('19.0.0' AS varchar) AS value;
CREATE VIEW ora.product_component_version AS
SELECT
    CAST('Oracle Database 19c (a double on PostgreSQL)' AS varchar) AS product,
    CAST('19.0.0.0.0' AS varchar) AS version, CAST('19.24.0.0.0' AS varchar) AS version_full;
CREATE FUNCTION ora.sys_context(text, text) RETURNS varchar IMMUTABLE
    RETURN CASE upper($2) WHEN 'CURRENT_SCHEMA' THEN 'DOUBLE' WHEN 'SESSION_USER' THEN 'DOUBLE' END;
CREATE VIEW ora.user_objects AS
SELECT
    CAST(upper(c.relname) AS varchar) AS object_name,
    CAST(CASE c.relkind WHEN 'i' THEN 'INDEX' WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS varchar)
        AS object_type,
    CAST(CASE WHEN n.nspname = 'temporary' THEN 'Y' ELSE 'N' END AS varchar) AS temporary,
    CAST(CASE WHEN obj_description(c.oid) = 'partitioned' THEN 'YES' ELSE 'NO' END AS varchar) AS partitioned,
    CAST(upper(t.relname) AS varchar) AS table_name, CAST(i.indisunique AS integer) AS is_unique
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname IN ('public', 'temporary')
LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
LEFT JOIN pg_class AS t ON t.oid = i.indrelid
WHERE c.relkind IN ('r', 'i', 'S', 'v')
AND NOT (c.relkind = 'v' AND to_regclass('temporary.' || quote_ident(c.relname)) IS NOT NULL);
CREATE VIEW ora.user_tables AS
SELECT object_name AS table_name, temporary, partitioned FROM ora.user_objects WHERE object_type = 'TABLE';
CREATE VIEW ora.all_tables AS SELECT CAST('DOUBLE' AS varchar) AS owner, t.* FROM ora.user_tables AS t;
CREATE VIEW ora.user_views AS SELECT object_name AS view_name FROM ora.user_objects WHERE object_type = 'VIEW';
CREATE VIEW ora.user_sequences AS
SELECT object_name AS sequence_name FROM ora.user_objects WHERE object_type = 'SEQUENCE';
CREATE VIEW ora.user_indexes AS
SELECT
    object_name AS index_name, table_name,
    CAST(CASE is_unique WHEN 1 THEN 'UNIQUE' ELSE 'NONUNIQUE' END AS varchar) AS uniqueness
FROM ora.user_objects WHERE object_type = 'INDEX';
CREATE VIEW ora.all_tab_cols AS
SELECT
    CAST('DOUBLE' AS varchar) AS owner,
    CAST(upper(c.relname) AS varchar) AS table_name, CAST(upper(a.attname) AS varchar) AS column_name,
    CAST(CASE
        WHEN a.atttypid = CAST('ora.clob' AS regtype) THEN 'CLOB'
        WHEN a.atttypid IN (CAST('varchar' AS regtype), CAST('text' AS regtype)) THEN 'VARCHAR2'
        WHEN a.atttypid = CAST('timestamp' AS regtype) THEN 'TIMESTAMP(6)'
        ELSE 'NUMBER'
    END AS varchar) AS data_type,
    a.atttypmod - 4 AS char_length, a.atttypmod - 4 AS data_length,
    CAST(NULL AS integer) AS data_precision, CAST(NULL AS integer) AS data_scale,
    CAST(CASE WHEN a.attnotnull THEN 'N' ELSE 'Y' END AS varchar) AS nullable,
    CAST(NULL AS varchar) AS data_default, CAST('NO' AS varchar) AS virtual_column,
    CAST('NO' AS varchar) AS default_on_null, CAST('NO' AS varchar) AS hidden_column,
    CAST(a.attnum AS integer) AS column_id
FROM pg_attribute AS a
JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'v')
JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = 'public'
WHERE a.attnum > 0 AND NOT a.attisdropped;
CREATE VIEW ora.user_tab_columns AS SELECT * FROM ora.all_tab_cols;
CREATE VIEW ora.all_col_comments AS
SELECT owner, table_name, column_name, CAST(NULL AS varchar) AS comments FROM ora.all_tab_cols WHERE column_id < 0;
CREATE VIEW ora.all_tab_identity_cols AS
SELECT
    owner, table_name, column_name,
    CAST(NULL AS varchar) AS generation_type, CAST(NULL AS varchar) AS identity_options
FROM ora.all_tab_cols WHERE column_id < 0;
