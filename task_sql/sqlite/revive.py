"""SQLite: reviving, reassigning and junctions."""

from functools import lru_cache
from typing import Final

from task_api import Junction, TaskState

from ..statements import ReviveStatements
from .listed import in_listed, in_open
from .times import NOW

__all__ = ["REVIVE"]

_ROW: Final = "sequence, identifier, input, attempt, token"
_REASSIGNED: Final = f"""descent = max(descent, state), completed = coalesce(completed, {NOW}),
    output = CASE WHEN :message IS NULL THEN output ELSE coalesce(output || char(10), '') || :message END"""
_RARE: Final = "state > 1 AND state <> 6"


def _in_state(state: TaskState) -> str:
    """Name a state so that SQLite finds the partial index for it."""
    return f"state = {state:d}" + ("" if state is TaskState.SUCCEEDED else f" AND {_RARE}")


def _select(columns: str, state: TaskState) -> str:
    return f"""
SELECT {columns} FROM task
WHERE topic = :topic AND {_in_state(state)} AND sequence BETWEEN :first AND :last
ORDER BY sequence LIMIT :size
"""


@lru_cache
def _by_state(state: TaskState) -> str:
    return _select(_ROW, state)


@lru_cache
def _chosen(state: TaskState) -> str:
    return _select("sequence, identifier", state)


@lru_cache
def _again(state: TaskState) -> str:
    return f"""
SELECT {_ROW} FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state = {state:d}
"""


@lru_cache
def _reassign(target: TaskState) -> str:
    return f"""
UPDATE task SET {_REASSIGNED}, due = CASE WHEN state = {target:d} THEN due END, state = {target:d}
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
"""


@lru_cache
def _reassign_all(state: TaskState, target: TaskState, skip_locked: bool) -> str:  # noqa: FBT001, ARG001
    return f"""
UPDATE task SET {_REASSIGNED}, due = NULL, state = {target:d}
WHERE topic = :topic AND {_in_state(state)} AND sequence BETWEEN :first AND :last
"""


def _junction(present: str) -> str:
    return f"""
UPDATE task SET
    state = CASE WHEN waits IS NULL THEN 1 ELSE 4 END, waits = CASE WHEN waits IS NOT NULL THEN 1 END, due = NULL
WHERE topic = :topic AND state = 4 AND {in_open()} AND identifier IN (
    SELECT identifier FROM (
        SELECT m.identifier, min({present}) OVER (PARTITION BY m.number) AS complete
        FROM (
            SELECT json_extract(value, '$[0]') AS number, json_extract(value, '$[1]') AS identifier
            FROM json_each(:given)
        ) AS m
    ) WHERE complete
)
RETURNING identifier
"""


def _present(index: str, condition: str) -> str:
    return f"""EXISTS (
            SELECT 1 FROM task AS t INDEXED BY {index}
            WHERE {condition} AND t.topic = :topic AND t.identifier = m.identifier)"""


_PRESENT: Final = "\n        OR ".join(
    (
        _present("task_open", f"t.state IN (0, 2, 3, 4) AND {in_open('t')}"),
        _present("task_listed", in_listed("t")),
        _present("task_done", "t.state >= 5 AND t.state <= 7"),
    )
)

REVIVE: Final = ReviveStatements(
    identifiers="""
SELECT identifier FROM task WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
""",
    chosen=_chosen,
    again=_again,
    named=f"""
SELECT {_ROW} FROM task
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state BETWEEN 2 AND 6
""",
    by_state=_by_state,
    reset="""
UPDATE task SET
    state = CASE WHEN waits IS NULL THEN 1 ELSE 4 END, waits = CASE WHEN waits IS NOT NULL THEN 1 END,
    descent = max(descent, state), completed = NULL, output = NULL, lease = NULL, due = NULL
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
""",
    retire="""
UPDATE task SET state = 7, descent = max(descent, state)
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
""",
    reassign=_reassign,
    reassign_all=_reassign_all,
    junction={
        Junction.SINGULAR: _junction(_present("task_open", f"t.state = 4 AND {in_open('t')}")),
        Junction.ETERNAL: _junction(_PRESENT),
    },
)
