"""Oracle: tasks by a range of identifiers."""

from typing import Final

from task_api import Claim

from ..lister import COLUMNS
from ..statements import BetweenStatements
from .claim import CHANGES, FREE, READS
from .sql import Chosen

__all__ = ["BETWEEN"]

# In the order of the index of siblings, so that nothing has to be sorted before the first row is locked.
_LOWEST: Final = f"""
SELECT /*+ FIRST_ROWS INDEX(t task_sibling) */ t.sequence FROM task t
WHERE t.topic = :topic AND t.identifier >= :low AND t.identifier < :high AND t.state = 1
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND {FREE}
ORDER BY t.identifier, t.state, t.sequence
FOR UPDATE SKIP LOCKED
"""
_ALL: Final = f"""
SELECT {COLUMNS} FROM task
WHERE topic = :topic AND identifier >= :low AND identifier < :high
ORDER BY identifier, sequence
"""

BETWEEN: Final = BetweenStatements(
    poll={claim: Chosen(_LOWEST, CHANGES[claim], READS[claim]) for claim in Claim},
    all=_ALL,
    lock=_ALL + "FOR UPDATE SKIP LOCKED\n",
)
