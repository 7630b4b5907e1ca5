"""SQLite: reviving, reassigning and junctions."""

from functools import lru_cache
from typing import Final

from task_api import Junction, TaskState

from ..statements import ReviveStatements
from .times import NOW

__all__ = ["REVIVE"]

_ROW: Final = "sequence, identifier, input, attempt, token"
_REASSIGNED: Final = f"""descent = max(descent, state), completed = coalesce(completed, {NOW}),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END"""
_RARE: Final = "state IN (2, 3, 4, 5, 7, 8)"


def _in_state(state: TaskState) -> str:
    """Name a state so that SQLite finds the partial index for it."""
    return f"state = {state:d}" + ("" if state is TaskState.SUCCEEDED else f" AND {_RARE}")


@lru_cache
def _by_state(state: TaskState) -> str:
    return f"""
SELECT {_ROW} FROM task
WHERE topic = :topic AND {_in_state(state)} AND sequence BETWEEN :first AND :last
ORDER BY sequence LIMIT :size
"""


@lru_cache
def _reassign_all(state: TaskState, target: TaskState, skip_locked: bool) -> str:  # noqa: FBT001, ARG001
    return f"""
UPDATE task SET {_REASSIGNED}, due = NULL, state = {target:d}
WHERE topic = :topic AND {_in_state(state)} AND sequence BETWEEN :first AND :last
"""


def _junction(present: str) -> str:
    return f"""
UPDATE task SET state = 1, due = NULL
WHERE topic = :topic AND state = 4 AND state <= 4 AND identifier IN (
    WITH member AS MATERIALIZED (
        SELECT DISTINCT json_extract(value, '$[0]') AS number, json_extract(value, '$[1]') AS identifier
        FROM json_each(:given)
    ),
    present AS MATERIALIZED (
        SELECT m.identifier FROM (SELECT DISTINCT identifier FROM member) AS m
        WHERE {present}
    ),
    complete AS MATERIALIZED (
        SELECT m.number FROM member AS m LEFT JOIN present AS p ON p.identifier = m.identifier
        GROUP BY m.number HAVING count(*) = count(p.identifier)
    )
    SELECT m.identifier FROM member AS m JOIN complete AS c ON c.number = m.number
)
RETURNING identifier
"""


_OPEN: Final = """EXISTS (
            SELECT 1 FROM task AS t INDEXED BY task_open
            WHERE t.state {states} AND t.state <= 4 AND t.topic = :topic AND t.identifier = m.identifier)"""
_DONE: Final = """EXISTS (
            SELECT 1 FROM task AS t INDEXED BY task_done
            WHERE t.state >= 5 AND t.state <= 7 AND t.topic = :topic AND t.identifier = m.identifier)"""

REVIVE: Final = ReviveStatements(
    named=f"""
SELECT {_ROW} FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state BETWEEN 2 AND 6
""",
    by_state=_by_state,
    reset="""
UPDATE task SET
    state = 1, descent = max(descent, state), completed = NULL, output = NULL, lease = NULL, due = NULL
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
""",
    retire="""
UPDATE task SET state = 7, descent = max(descent, state)
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
""",
    reassign=f"""
UPDATE task SET
    {_REASSIGNED},
    due = CASE WHEN state = json_extract(g.value, '$[1]') THEN due END,
    state = json_extract(g.value, '$[1]')
FROM json_each(:given) AS g
WHERE task.sequence = json_extract(g.value, '$[0]') AND topic = :topic
""",
    reassign_all=_reassign_all,
    junction={
        Junction.SINGULAR: _junction(_OPEN.format(states="= 4")),
        Junction.ETERNAL: _junction(f"{_OPEN.format(states='IN (0, 1, 2, 3, 4)')}\n        OR {_DONE}"),
    },
)
