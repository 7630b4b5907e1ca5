"""
PostgreSQL: tasks by a range of identifiers.

A poll has no floor to start from: it walks the index of open siblings, which knows READY tasks by their identifiers.
"""

from typing import Final

from task_api import Claim

from ..lister import COLUMNS
from ..statements import BetweenStatements
from .claim import FREE, REGISTERED, claiming
from .sql import sql

__all__ = ["BETWEEN"]


def _poll(claim: Claim) -> str:
    source = f"""
    FROM task AS t
    WHERE t.topic = :topic AND t.state + 0 = 1 AND t.identifier >= :low AND t.identifier < :high
    AND {FREE}
    AND {REGISTERED}
    ORDER BY t.identifier, 0 + t.sequence LIMIT 1
    FOR NO KEY UPDATE OF t SKIP LOCKED"""
    return sql(claiming(claim, source))


# Every state is open or finished; saying so leads to the two indexes that know identifiers.
_ALL: Final = f"""
SELECT {COLUMNS} FROM task
WHERE topic = :topic AND identifier >= :low AND identifier < :high
AND (state + 0 = ANY ('{{0,1,2,3,4}}') OR state >= 5)
ORDER BY identifier, sequence
"""

BETWEEN: Final = BetweenStatements(
    poll={claim: _poll(claim) for claim in Claim},
    all=sql(_ALL),
    lock=sql(_ALL + "FOR NO KEY UPDATE SKIP LOCKED\n"),
)
