"""Oracle: reviving, reassigning and junctions."""

from functools import lru_cache
from typing import Final

from task_api import Junction, TaskState

from ..statements import ReviveStatements
from .sql import NOW, READ, Chosen, given

__all__ = ["REVIVE"]

_REASSIGNED: Final = f"""t.descent = GREATEST(t.descent, t.state), t.completed = COALESCE(t.completed, {NOW}),
    t.output = CASE
        WHEN TO_CLOB(:message) IS NULL THEN t.output
        WHEN t.output IS NULL THEN TO_CLOB(:message)
        ELSE t.output || CHR(10) || TO_CLOB(:message)
    END"""
_AMONG: Final = f"t.sequence IN (SELECT j.sequence FROM {given('sequence NUMBER(19)')} j)"
_ONE: Final = "WHERE t.topic = :topic AND t.sequence = :sequence"


def _in_state(columns: str, state: TaskState, lock: str) -> str:
    return f"""
SELECT {columns} FROM task t
WHERE t.topic = :topic AND {_state(state)} AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence
{lock}"""


def _state(state: TaskState) -> str:
    return f"t.state = {state:d}"


def _read(state: TaskState) -> str:
    return f"{READ}WHERE {_state(state)}\n"


@lru_cache
def _by_state(state: TaskState) -> Chosen:
    return Chosen(_in_state("t.sequence", state, "FOR UPDATE SKIP LOCKED\n"), read=_read(state))


@lru_cache
def _chosen(state: TaskState) -> str:
    return _in_state("t.sequence, t.identifier", state, "FETCH FIRST :most ROWS ONLY\n")


@lru_cache
def _again(state: TaskState) -> Chosen:
    find = f"""
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND {_AMONG} AND {_state(state)}
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED
"""
    return Chosen(find, read=_read(state))


@lru_cache
def _reassign(target: TaskState) -> str:
    return f"""
UPDATE task t SET {_REASSIGNED}, t.due = CASE WHEN t.state = {target:d} THEN t.due END, t.state = {target:d}
{_ONE}
"""


@lru_cache
def _reassign_all(state: TaskState, target: TaskState, skip_locked: bool) -> Chosen:  # noqa: FBT001
    return Chosen(
        _in_state("t.sequence", state, "FOR UPDATE SKIP LOCKED\n" if skip_locked else "FOR UPDATE\n"),
        f"\nUPDATE task t SET {_REASSIGNED}, t.due = NULL, t.state = {target:d}\n{_ONE} AND {_state(state)}\n",
    )


def _junction(states: str) -> Chosen:
    find = f"""
SELECT DISTINCT identifier FROM (
    SELECT identifier, MIN(present) OVER (PARTITION BY place) AS complete FROM (
        SELECT
            j.place, j.identifier,
            CASE WHEN EXISTS (
                SELECT 1 FROM task t WHERE t.topic = :topic AND t.identifier = j.identifier AND t.state {states}
            ) THEN 1 ELSE 0 END AS present
        FROM {given("place NUMBER(10)", "identifier VARCHAR2(500 CHAR)")} j
    ) judged
) joined
WHERE complete = 1
"""
    change = """
UPDATE task t SET
    t.state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, t.waits = CASE WHEN t.waits IS NOT NULL THEN 1 END,
    t.due = NULL
WHERE t.topic = :topic AND t.identifier = :identifier AND t.state = 4
"""
    return Chosen(find, change)


REVIVE: Final = ReviveStatements(
    identifiers=f"SELECT t.identifier FROM task t WHERE t.topic = :topic AND {_AMONG}",
    chosen=_chosen,
    again=_again,
    named=Chosen(
        f"""
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND {_AMONG} AND t.state BETWEEN 2 AND 6
ORDER BY t.sequence
FOR UPDATE
""",
        read=READ,
    ),
    by_state=_by_state,
    reset=f"""
UPDATE task t SET
    t.state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, t.descent = GREATEST(t.descent, t.state),
    t.waits = CASE WHEN t.waits IS NOT NULL THEN 1 END,
    t.completed = NULL, t.output = NULL, t.lease = NULL, t.due = NULL
{_ONE}
""",
    retire=f"UPDATE task t SET t.state = 7, t.descent = GREATEST(t.descent, t.state) {_ONE}",
    reassign=_reassign,
    reassign_all=_reassign_all,
    junction={Junction.SINGULAR: _junction("= 4"), Junction.ETERNAL: _junction("<= 7")},
)
