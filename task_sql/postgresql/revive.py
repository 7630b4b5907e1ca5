"""PostgreSQL: reviving, reassigning and junctions."""

from functools import lru_cache
from typing import Final

from task_api import Junction, TaskState

from ..statements import ReviveStatements
from .sql import KEY, NOTIFY, NOW, sql

__all__ = ["REVIVE"]

_ROW: Final = "t.sequence, t.identifier, t.input, t.attempt, t.token"
_REASSIGNED: Final = f"""descent = greatest(t.descent, t.state), completed = coalesce(t.completed, {NOW}),
    output = CASE
        WHEN CAST(:message AS text) IS NULL THEN t.output ELSE concat_ws(E'\\n', t.output, CAST(:message AS text))
    END"""


@lru_cache
def _by_state(state: TaskState) -> str:
    return sql(f"""
SELECT {_ROW} FROM task AS t
WHERE t.topic = :topic AND t.state = {state:d} AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence LIMIT :size
FOR UPDATE SKIP LOCKED
""")


@lru_cache
def _reassign_all(state: TaskState, target: TaskState, skip_locked: bool) -> str:  # noqa: FBT001
    return sql(f"""
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = :topic AND t.state = {state:d} AND t.sequence BETWEEN :first AND :last
    ORDER BY t.sequence
    FOR UPDATE{" SKIP LOCKED" if skip_locked else ""}
)
UPDATE task AS t SET {_REASSIGNED}, due = NULL, state = {target:d}
FROM chosen AS c
WHERE t.topic = :topic AND t.sequence = c.sequence
""")


def _junction(present: str) -> str:
    return sql(f"""
WITH unlocked AS (
    DELETE FROM task_mutex
    WHERE key IN (SELECT {KEY.format(identifier="i", salt=":salt")} FROM unnest(CAST(:identifiers AS text[])) AS i)
),
member AS MATERIALIZED (
    SELECT DISTINCT g.number, g.identifier
    FROM unnest(CAST(:groups AS integer[]), CAST(:identifiers AS text[])) AS g (number, identifier)
),
present AS MATERIALIZED (
    SELECT m.identifier FROM (SELECT DISTINCT identifier FROM member) AS m
    WHERE {present}
),
complete AS MATERIALIZED (
    SELECT m.number FROM member AS m LEFT JOIN present AS p ON p.identifier = m.identifier
    GROUP BY m.number HAVING count(*) = count(p.identifier)
),
released AS MATERIALIZED (
    SELECT DISTINCT m.identifier FROM member AS m JOIN complete AS c ON c.number = m.number
)
UPDATE task AS t SET state = 1, due = NULL, late = t.sequence
FROM released AS r
WHERE t.topic = :topic AND t.state + 0 = 4 AND t.identifier = r.identifier
RETURNING t.identifier, {NOTIFY}
""")


_OPEN: Final = """(
        SELECT 1 FROM task AS t
        WHERE t.topic = :topic AND t.state + 0 = ANY('{{{states}}}') AND t.identifier = m.identifier LIMIT 1
    ) IS NOT NULL"""
_DONE: Final = """(
        SELECT 1 FROM task AS t
        WHERE t.topic = :topic AND t.state >= 5 AND t.state <= 7 AND t.identifier = m.identifier LIMIT 1
    ) IS NOT NULL"""

REVIVE: Final = ReviveStatements(
    named=sql(f"""
SELECT {_ROW} FROM task AS t
WHERE t.topic = :topic AND t.sequence = ANY(:sequences) AND t.state BETWEEN 2 AND 6
ORDER BY t.sequence
FOR UPDATE
"""),
    by_state=_by_state,
    reset=sql(f"""
UPDATE task AS t SET
    state = 1, descent = greatest(t.descent, t.state), late = t.sequence,
    completed = NULL, output = NULL, lease = NULL, due = NULL
WHERE t.topic = :topic AND t.sequence = ANY(:sequences)
RETURNING {NOTIFY}
"""),
    retire=sql("""
UPDATE task AS t SET state = 7, descent = greatest(t.descent, t.state)
WHERE t.topic = :topic AND t.sequence = ANY(:sequences)
"""),
    reassign=sql(f"""
UPDATE task AS t SET {_REASSIGNED}, due = CASE WHEN t.state = g.state THEN t.due END, state = g.state
FROM unnest(CAST(:sequences AS bigint[]), CAST(:states AS smallint[])) AS g (sequence, state)
WHERE t.topic = :topic AND t.sequence = g.sequence
"""),
    reassign_all=_reassign_all,
    junction={
        Junction.SINGULAR: _junction(_OPEN.format(states="4")),
        Junction.ETERNAL: _junction(f"{_OPEN.format(states='0,1,2,3,4')}\n    OR {_DONE}"),
    },
)
