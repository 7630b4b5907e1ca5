"""PostgreSQL: pushing."""

from typing import Final

from task_api import Insertion

from ..statements import PushStatements
from .sql import KEY, NOTIFY, NOW, UNLOCK, sql

__all__ = ["COPY", "COPY_ALL", "DRAW", "PUSH", "PUSH_PLAIN", "SERIALIZE"]

# An unknown topic leaves no row to insert, so that no partition has to refuse it and abort the transaction; a known one
# stays until the transaction ends. The subquery asks once, not for each row.
# Asking for the transaction's id comes before the first number is drawn: consumers that remember how far they
# have come rely on it (see floor.py).
_KNOWN: Final = "(SELECT pg_current_xact_id() IS NOT NULL AND task_known(:topic))"


def _retire(states: str, change: str) -> str:
    """Change older tasks, which are locked in the order of their sequences like everywhere else."""
    return sql(f"""
WITH {UNLOCK},
older AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = :topic AND t.identifier = ANY (:identifiers) AND {states}
    ORDER BY t.sequence
    FOR UPDATE
),
retired AS (
    {change} WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM older))
    RETURNING t.sequence, t.awaited, t.on_abort
)
SELECT sequence FROM retired WHERE awaited OR on_abort IS NOT NULL
""")


_READY: Final = "t.state + 0 = 1"
_OPEN_OR: Final = "(t.state + 0 = ANY ('{1,2,3,4}') OR "
_REDUNDANT: Final = "UPDATE task AS t SET state = 8, late = NULL, descent = greatest(t.descent, t.state)"

PUSH: Final = PushStatements(
    one=sql(f"""
SELECT task_push(
    :topic, :identifier, :input, :reference, CAST(:state AS smallint),
    coalesce(CAST(:due AS timestamptz), {NOW} + CAST(:delay AS interval)), :notify)
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
    copy=sql(f"""
WITH original AS MATERIALIZED (
    SELECT
        t.topic, t.identifier, t.input, t.reference, t.sequence, t.awaited, t.on_abort, t.failed,
        CASE WHEN t.waits IS NOT NULL AND g.state = 1 THEN 4 ELSE g.state END AS state,
        CASE WHEN t.waits IS NOT NULL AND g.state = 1 THEN 1 END AS waits
    FROM unnest(CAST(:sequences AS bigint[]), CAST(:states AS smallint[])) WITH ORDINALITY AS g (sequence, state, rank)
    CROSS JOIN LATERAL (SELECT * FROM task AS t WHERE t.topic = :topic AND t.sequence = g.sequence OFFSET 0) AS t
    ORDER BY g.rank
)
INSERT INTO task (
    topic, sequence, identifier, input, reference, state, origin, awaited, on_abort, failed, waits)
SELECT
    topic, nextval('task_sequence'), identifier, input, reference, state, sequence, awaited, on_abort, failed, waits
FROM original
RETURNING origin, sequence, {NOTIFY}
"""),
    retire={
        Insertion.SUPERSEDE: _retire(_READY, _REDUNDANT),
        Insertion.REPLACE: _retire(_OPEN_OR + "t.state >= 5 AND t.state <= 6)", _REDUNDANT),
        Insertion.DELETE: _retire(_OPEN_OR + "t.state >= 5)", "DELETE FROM task AS t"),
    },
    present=sql(f"""
WITH {UNLOCK}
SELECT DISTINCT ON (t.identifier) t.sequence, t.identifier, t.input, t.attempt, t.token FROM task AS t
WHERE t.topic = :topic AND t.identifier = ANY (:identifiers)
AND (t.state + 0 = ANY ('{{0,1,2,3,4}}') OR t.state >= 5 AND t.state <= 6)
ORDER BY t.identifier, t.sequence DESC
"""),
)

PUSH_PLAIN: Final = sql("SELECT task_push(:topic, :identifier, :input, NULL, CAST(1 AS smallint), NULL, :notify)")
"""Insert a READY task without reference or due time: topic, identifier, input, notify → its number, or NULL."""

DRAW: Final = sql(f"""
SELECT min(n), max(n), CASE WHEN max(n) - min(n) >= count(n) THEN array_agg(n) END, {NOTIFY}
FROM (SELECT nextval('task_sequence') AS n FROM generate_series(1, :number) WHERE {_KNOWN}) AS drawn
""")
"""
Draw numbers for tasks that are copied in, unless the topic is unknown: topic, number, notify.

Gives the first and the last, or NULL, and all of them if others were drawn between.
"""

COPY: Final = "COPY task (topic, sequence, identifier, input) FROM STDIN"
"""Insert READY tasks in the driver's stream of rows, half the work of a statement for the server."""

COPY_ALL: Final = "COPY task (topic, sequence, identifier, input, reference, state) FROM STDIN"
"""Insert tasks of any state so, with references."""

SERIALIZE: Final = sql(f"""
WITH locked AS (
    INSERT INTO task_mutex (key)
    SELECT DISTINCT {KEY.format(identifier="i", salt=":salt")} AS key
    FROM unnest(CAST(:identifiers AS text[])) AS i
    WHERE current_setting('transaction_isolation') IN ('read committed', 'read uncommitted')
    ORDER BY key
    ON CONFLICT (key) DO UPDATE SET key = excluded.key
)
SELECT current_setting('transaction_isolation')
""")
"""Wait for other transactions that do the same with an identifier: topic, identifiers, salt → isolation."""
