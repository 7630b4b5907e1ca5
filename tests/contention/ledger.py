"""
What happened to which task, noted in the very transactions that claim and decide it, and audited at the end.

Moments come from the database and are drawn after the claim succeeded and before the decision commits. So a
second claim that is only possible after the first one's decision has a later moment, and whatever overlaps
by these moments has overlapped in truth.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.contention.plain_sql import execute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from task_api import Task
    from tests.backends import Backend, Transaction

BEGIN, END, FAIL = "begin", "end", "fail"
_COLUMNS = {
    "sqlite": "moment INTEGER PRIMARY KEY AUTOINCREMENT, kind text, sequence bigint, identifier text",
    "postgresql": (
        "moment bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text, sequence bigint, identifier text"
    ),
    "oracle": (
        "moment NUMBER(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        " kind VARCHAR2(20 CHAR), sequence NUMBER(19), identifier VARCHAR2(500 CHAR)"
    ),
}


def create(backend: Backend) -> None:
    """Create the table."""
    backend.sql(f"CREATE TABLE ledger ({_COLUMNS[backend.name]})")


def note(transaction: Transaction, kind: str, tasks: Iterable[Task]) -> None:
    """Note an event of these tasks in this transaction."""
    for task in tasks:
        execute(
            transaction,
            "INSERT INTO ledger (kind, sequence, identifier) VALUES (:kind, :sequence, :identifier)",
            kind=kind,
            sequence=task.sequence,
            identifier=task.identifier,
        )


def ends(backend: Backend) -> Counter[int]:
    """How often each task's effect was committed."""
    return Counter(sequence for (sequence,) in backend.sql("SELECT sequence FROM ledger WHERE kind <> 'begin'"))


def overlaps(backend: Backend) -> list[str]:
    """Every claim that began while another one of its identifier had not ended."""
    holders: dict[str, int] = {}
    found = []
    for kind, sequence, identifier in backend.sql("SELECT kind, sequence, identifier FROM ledger ORDER BY moment"):
        holder = holders.get(identifier)
        if kind == BEGIN and holder is None:
            holders[identifier] = sequence
        elif kind != BEGIN and holder == sequence:
            del holders[identifier]
        else:
            found.append(f"{kind} of {sequence} while {holder} held {identifier!r}")
    return found


def after_failure(backend: Backend) -> list[str]:
    """Every claim that began after a task of its identifier had failed."""
    failed: set[str] = set()
    found = []
    for kind, sequence, identifier in backend.sql("SELECT kind, sequence, identifier FROM ledger ORDER BY moment"):
        if kind == BEGIN and identifier in failed:
            found.append(f"{sequence} of the failed {identifier!r}")
        if kind == FAIL:
            failed.add(identifier)
    return found
