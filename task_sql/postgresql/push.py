"""PostgreSQL: pushing."""

from typing import Final

from task_api import Insertion

from ..statements import PushStatements
from .sql import KEY, NOTIFY, NOW, sql

__all__ = ["PUSH"]

# An unknown topic leaves no row to insert, so that no partition has to refuse it and abort the transaction.
# Asking for the transaction's id comes before the first number is drawn: consumers that remember how far they
# have come rely on it (see floor.py).
_KNOWN: Final = "pg_current_xact_id() IS NOT NULL AND EXISTS (SELECT FROM task_topic WHERE topic = :topic)"

_UNLOCK: Final = f"""
unlocked AS (
    DELETE FROM task_mutex
    WHERE key IN (SELECT {KEY.format(identifier="i", salt=":salt")} FROM unnest(CAST(:identifiers AS text[])) AS i)
)"""
_OPEN: Final = "t.topic = :topic AND t.identifier = ANY(:identifiers) AND t.state + 0 = ANY('{{{states}}}')"
_DONE: Final = "t.topic = :topic AND t.identifier = ANY(:identifiers) AND t.state >= 5"
_REDUNDANT: Final = "UPDATE task AS t SET state = 8, late = NULL, descent = greatest(t.descent, t.state)"

PUSH: Final = PushStatements(
    one=sql(f"""
INSERT INTO task (topic, sequence, identifier, input, reference, state, due)
SELECT
    t.topic, nextval('task_sequence'), :identifier, :input, :reference, CAST(:state AS smallint),
    coalesce(CAST(:due AS timestamptz), {NOW} + CAST(:delay AS interval))
FROM task_topic AS t
WHERE t.topic = :topic AND pg_current_xact_id() IS NOT NULL
RETURNING sequence, {NOTIFY}
"""),
    many=sql(f"""
WITH numbered AS MATERIALIZED (
    SELECT nextval('task_sequence') AS sequence, g.*
    FROM unnest(
        CAST(:identifiers AS text[]), CAST(:inputs AS text[]), CAST(:references AS text[]),
        CAST(:states AS smallint[]), CAST(:dues AS timestamptz[]), CAST(:delays AS interval[])
    ) AS g (identifier, input, reference, state, due, delay)
    WHERE {_KNOWN}
)
INSERT INTO task (topic, sequence, identifier, input, reference, state, due)
SELECT CAST(:topic AS text), sequence, identifier, input, reference, state, coalesce(due, {NOW} + delay)
FROM numbered
RETURNING sequence, {NOTIFY}
"""),
    copy=sql("""
WITH original AS MATERIALIZED (
    SELECT t.topic, t.identifier, t.input, t.reference, g.state, t.sequence
    FROM unnest(CAST(:sequences AS bigint[]), CAST(:states AS smallint[])) WITH ORDINALITY AS g (sequence, state, rank)
    JOIN task AS t ON t.topic = :topic AND t.sequence = g.sequence
    ORDER BY g.rank
)
INSERT INTO task (topic, sequence, identifier, input, reference, state, origin)
SELECT topic, nextval('task_sequence'), identifier, input, reference, state, sequence
FROM original
RETURNING origin, sequence
"""),
    retire={
        Insertion.SUPERSEDE: sql(f"""
WITH {_UNLOCK}
{_REDUNDANT} WHERE {_OPEN.format(states="1")}
"""),
        Insertion.REPLACE: sql(f"""
WITH {_UNLOCK},
done AS (
    {_REDUNDANT} WHERE {_DONE} AND t.state <= 6
)
{_REDUNDANT} WHERE {_OPEN.format(states="1,2,3,4")}
"""),
        Insertion.DELETE: sql(f"""
WITH {_UNLOCK},
done AS (
    DELETE FROM task AS t WHERE {_DONE}
)
DELETE FROM task AS t WHERE {_OPEN.format(states="1,2,3,4")}
"""),
    },
    serialize=sql(f"""
WITH locked AS (
    INSERT INTO task_mutex (key)
    SELECT DISTINCT {KEY.format(identifier="i", salt=":salt")} AS key
    FROM unnest(CAST(:identifiers AS text[])) AS i
    ORDER BY key
    ON CONFLICT DO NOTHING
)
SELECT current_setting('transaction_isolation')
"""),
)
