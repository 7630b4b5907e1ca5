"""PostgreSQL: lists and counts."""

from functools import lru_cache
from typing import Final

from task_api import Direction, Snapshot

from ..lister import COLUMNS
from ..statements import Filter, ListStatements
from .sql import sql

__all__ = ["LIST"]


# Every state is open or finished; saying so leads to the two indexes that know identifiers.
_IDENTIFIER: Final = "identifier = :identifier AND (state + 0 = ANY('{0,1,2,3,4}') OR state >= 5)"


def _where(*conditions: str) -> str:
    return " AND ".join(condition for condition in conditions if condition)


@lru_cache
def _page(direction: Direction, filters: Filter) -> str:
    beyond, order = ("<", "DESC") if direction is Direction.BACKWARD else (">", "ASC")
    where = _where(
        "topic = :topic",
        f"sequence {beyond} :start",
        "" if filters.state is None else f"state = {filters.state:d}",
        "reference = :reference" if filters.reference else "",
        _IDENTIFIER if filters.identifier else "",
    )
    return sql(f"\nSELECT {COLUMNS} FROM task\nWHERE {where}\nORDER BY sequence {order} LIMIT :size\n")


@lru_cache
def _count(snapshot: Snapshot, filters: Filter) -> str:
    where = _where(
        "sequence BETWEEN :first AND :last",
        "topic = :topic" if filters.topic else "",
        "reference = :reference" if filters.reference else "",
        _IDENTIFIER if filters.identifier else "",
    )
    state = "" if filters.state is None else f"state = {filters.state:d}"
    if snapshot is Snapshot.TOTAL:
        return sql(f"""
SELECT topic, state, count(*), max(sequence) FROM task
WHERE {_where(where, state)}
GROUP BY topic, state
""")
    return sql(f"""
SELECT topic, state, count(*), max(sequence)
FROM (
    SELECT DISTINCT ON (topic, identifier) topic, identifier, state, sequence FROM task
    WHERE {where}
    ORDER BY topic, identifier, sequence DESC
) AS recent
{"WHERE " + state if state else ""}
GROUP BY topic, state
""")


LIST: Final = ListStatements(
    task=sql(f"SELECT {COLUMNS} FROM task WHERE topic = :topic AND sequence = :sequence"),
    page=_page,
    count=_count,
    results=sql("""
SELECT topic, state, count(*) FROM task
WHERE state BETWEEN 3 AND 6
AND (CAST(:since AS timestamptz) IS NULL OR completed >= CAST(:since AS timestamptz))
AND (CAST(:until AS timestamptz) IS NULL OR completed <= CAST(:until AS timestamptz))
GROUP BY topic, state
"""),
    resolve={
        (False, True): sql("SELECT min(sequence) FROM task WHERE created >= :moment"),
        (True, True): sql("SELECT max(sequence) FROM task WHERE created <= :moment"),
        (True, False): sql("SELECT max(sequence) FROM task WHERE created < :moment"),
    },
)
