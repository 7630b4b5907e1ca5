"""SQLite: tasks by a range of identifiers."""

from typing import Final

from task_api import Claim, Condition

from ..lister import COLUMNS
from ..statements import BetweenStatements
from .claim import AS_CLAIMED, beside_own, claiming
from .listed import UNLISTED, in_listed, in_open

__all__ = ["BETWEEN", "POLL_BETWEEN_BESIDE"]

_BESIDE_OWN: Final = beside_own(Condition.NONE)


def _lowest(columns: str, beside: str) -> str:
    return f"""SELECT {columns} FROM task AS t INDEXED BY task_listed
    WHERE {in_listed("t")} AND t.topic = :topic AND t.identifier >= :low AND t.identifier < :high
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner){beside}
    ORDER BY t.identifier, t.sequence LIMIT 1"""


def _all(source: str, condition: str) -> str:
    return f"""
SELECT {COLUMNS} FROM {source}
WHERE {condition} AND topic = :topic AND identifier >= :low AND identifier < :high
"""


# Where somebody has looked, nothing is unlisted, and nothing is searched for.
_UNLOOKED: Final = "(SELECT looked FROM task_topic WHERE topic = :topic AND looked = 0)"
_ALL: Final = (
    "UNION ALL".join(
        (
            _all("task INDEXED BY task_open", f"state IN (0, 2, 3, 4) AND {in_open()}"),
            _all("task INDEXED BY task_listed", in_listed()),
            _all(f"{_UNLOOKED} CROSS JOIN task INDEXED BY task_ready", UNLISTED),
            _all("task INDEXED BY task_done", "state >= 5"),
        )
    )
    + "ORDER BY identifier, sequence\n"
)

POLL_BETWEEN_BESIDE: Final = claiming(_lowest("t.sequence", _BESIDE_OWN))
"""A committed poll in a transaction that has claimed tasks for itself."""

BETWEEN: Final = BetweenStatements(
    poll={
        Claim.COMMITTED: claiming(_lowest("t.sequence", "")),
        Claim.TRANSACTION: "\n" + _lowest(AS_CLAIMED, _BESIDE_OWN) + "\n",
    },
    all=_ALL,
    lock=_ALL,
)
