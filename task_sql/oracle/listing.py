"""Oracle: lists and counts."""

from functools import lru_cache
from typing import Final

from task_api import Direction, Snapshot

from ..lister import COLUMNS
from ..statements import Filter, ListStatements
from .sql import moment

__all__ = ["LIST"]


def _where(*conditions: str) -> str:
    return " AND ".join(condition for condition in conditions if condition)


@lru_cache
def _page(direction: Direction, filters: Filter) -> str:
    beyond, order = ("<", "DESC") if direction is Direction.BACKWARD else (">", "ASC")
    where = _where(
        "topic = :topic",
        f"sequence {beyond} :beyond",
        "" if filters.state is None else f"state = {filters.state:d}",
        "reference = :reference" if filters.reference else "",
        "identifier = :identifier" if filters.identifier else "",
    )
    return f"\nSELECT {COLUMNS} FROM task\nWHERE {where}\nORDER BY sequence {order} FETCH FIRST :most ROWS ONLY\n"


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
SELECT topic, state, COUNT(*), MAX(sequence) FROM task
WHERE {_where(where, state)}
GROUP BY topic, state
"""
    return f"""
SELECT topic, state, COUNT(*), MAX(sequence)
FROM (
    SELECT topic, state, sequence, ROW_NUMBER() OVER (PARTITION BY topic, identifier ORDER BY sequence DESC) AS place
    FROM task WHERE {where}
) recent
WHERE {_where("place = 1", state)}
GROUP BY topic, state
"""


LIST: Final = ListStatements(
    task=f"SELECT {COLUMNS} FROM task WHERE topic = :topic AND sequence = :sequence",
    page=_page,
    count=_count,
    results=f"""
SELECT topic, state, COUNT(*) FROM task
WHERE state BETWEEN 3 AND 6
AND ({moment("since")} IS NULL OR completed >= {moment("since")})
AND ({moment("until")} IS NULL OR completed <= {moment("until")})
GROUP BY topic, state
""",
    resolve={
        (False, True): f"SELECT MIN(sequence) FROM task WHERE created >= {moment('moment')}",
        (True, True): f"SELECT MAX(sequence) FROM task WHERE created <= {moment('moment')}",
        (True, False): f"SELECT MAX(sequence) FROM task WHERE created < {moment('moment')}",
    },
)
