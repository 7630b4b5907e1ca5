"""SQLite: lists and counts."""

from functools import lru_cache
from typing import Final

from task_api import Direction, Snapshot, TaskState

from ..lister import COLUMNS
from ..statements import Filter, ListStatements
from .listed import in_open

__all__ = ["LIST"]


def _where(*conditions: str) -> str:
    return " AND ".join(condition for condition in conditions if condition)


@lru_cache
def _page(direction: Direction, filters: Filter) -> str:
    beyond, order = ("<", "DESC") if direction is Direction.BACKWARD else (">", "ASC")
    state = filters.state
    where = _where(
        "topic = :topic",
        f"sequence {beyond} :start",
        "" if state is None else f"state = {state:d}",
        "state > 1 AND state <> 6" if state not in (None, *_COMMON) else "",
        in_open() if state is TaskState.ACTIVE else "",
        "reference = :reference" if filters.reference else "",
        "identifier = :identifier" if filters.identifier else "",
    )
    return f"\nSELECT {COLUMNS} FROM task\nWHERE {where}\nORDER BY sequence {order} LIMIT :size\n"


_COMMON: Final = (TaskState.ACTIVE, TaskState.READY, TaskState.SUCCEEDED)


@lru_cache
def _count(snapshot: Snapshot, filters: Filter) -> str:
    where = _where(
        "sequence BETWEEN :first AND :last",
        "topic = :topic" if filters.topic else "",
        "reference = :reference" if filters.reference else "",
        "identifier = :identifier" if filters.identifier else "",
    )
    state = "" if filters.state is None else f"state = {filters.state:d}"
    if snapshot is Snapshot.TOTAL:
        return f"""
SELECT topic, state, count(*), max(sequence) FROM task
WHERE {_where(where, state)}
GROUP BY topic, state
"""
    return f"""
SELECT topic, state, count(*), max(sequence)
FROM (SELECT topic, state, max(sequence) AS sequence FROM task WHERE {where} GROUP BY topic, identifier)
{"WHERE " + state if state else ""}
GROUP BY topic, state
"""


LIST: Final = ListStatements(
    task=f"SELECT {COLUMNS} FROM task WHERE sequence = :sequence AND topic = :topic",
    page=_page,
    count=_count,
    results="""
SELECT topic, state, count(*) FROM task
WHERE state BETWEEN 3 AND 6
AND (:since IS NULL OR completed >= :since) AND (:until IS NULL OR completed <= :until)
GROUP BY topic, state
""",
    resolve={
        (False, True): "SELECT min(sequence) FROM task WHERE created >= :moment",
        (True, True): "SELECT max(sequence) FROM task WHERE created <= :moment",
        (True, False): "SELECT max(sequence) FROM task WHERE created < :moment",
    },
)
