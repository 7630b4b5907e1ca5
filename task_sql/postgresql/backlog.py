"""
Which identifiers the READY tasks at the head of a topic belong to, for polls under a SINGULAR condition.

Such a poll passes over every task whose identifier is blocked, or has a task before it. Where few identifiers have
long queues, that is nearly all of them, again at each poll. So it is noted once: below a *bound*, every READY task
belongs to one of some identifiers, apart from those that came back to READY, which the column "late" lists. A poll then
asks for the first task of each of these identifiers, and walks along the tasks from the bound on.

This is exact for the same reason as the floor: the bound lies where every transaction that could bring a lower number
has ended, and what is READY below it is read by a transaction that has not written yet.
"""

from threading import Lock
from typing import Final

from task_api import MAX_SEQUENCE

from ..transaction import Row, Transaction
from .claim import BACKLOG, STILL

__all__ = ["Backlog"]

_MOST: Final = 1000
"""How many identifiers are noted."""
_WALK: Final = 20_000
"""How many tasks are read at once to note theirs."""
_WASTE: Final = 10
"""How many times as many tasks as it took may a poll have passed over before it is worth while to note them."""
_IDLE: Final = 2
"""How many times as many identifiers may be known as a poll found tasks, before those that have none are forgotten."""


class Backlog:
    """What one repository knows about the head of one topic."""

    __slots__ = ("_found", "_lock", "_reached", "known")

    def __init__(self) -> None:
        self.known: tuple[int, tuple[str, ...]] = 0, ()
        """The bound and the identifiers: a READY task below the bound belongs to one of them, or is noted as late."""
        # How far polls have come that may have passed over many tasks; 0 if none has.
        self._reached = 0
        self._found = 0
        self._lock = Lock()

    def forget(self) -> None:
        """Start again from nothing."""
        with self._lock:
            self.known, self._reached = (0, ()), 0

    def passed(self, start: int, sequences: list[int], size: int) -> None:
        """Note what a poll brought, and from where on it looked."""
        self._found = len(sequences)
        highest = max(sequences)
        if len(sequences) < size:
            self._reached = MAX_SEQUENCE
        elif highest - max(start, self.known[0]) > _WASTE * size:
            self._reached = max(self._reached, highest)

    def advance(self, tx: Transaction, topic: str, floor: int, settled: int, *, afresh: bool) -> None:
        """
        Move the bound up as far as polls have passed over tasks, if these are settled.

        It goes no further: a poll that soon finds what it wants would have to ask for each identifier that is noted.
        For a transaction that has not written.
        """
        bound, identifiers = self.known
        limit = min(settled, self._reached)
        if afresh and identifiers:
            limit = min(settled, max(self._reached, bound))
            bound, identifiers = 0, ()
        elif not self._reached or (bound >= limit and len(identifiers) <= _IDLE * self._found):
            return  # there is nothing to note, and little to forget
        bound = max(bound, floor)
        if identifiers:
            parameters = {"topic": topic, "identifiers": list(identifiers), "floor": floor, "bound": bound}
            identifiers = tuple(identifier for (identifier,) in tx.rows(STILL, parameters))
        known = dict.fromkeys(identifiers)
        room = True
        while room and bound < limit:
            rows = tx.rows(BACKLOG, {"topic": topic, "bound": bound, "settled": limit, "most": _WALK})
            bound, room = _walked(rows, known, limit)
        # Critical section: what two threads have read at the same time must not be mixed.
        with self._lock:
            if afresh or bound >= self.known[0]:
                self.known = bound, tuple(known)
            self._reached = 0


def _walked(rows: list[Row], known: dict[str, None], limit: int) -> tuple[int, bool]:
    """Note the identifiers of tasks; return how far that went, and whether there was room for all."""
    for sequence, identifier in rows:
        if identifier not in known and len(known) == _MOST:
            return sequence, False
        known[identifier] = None
    return (rows[-1][0] + 1 if len(rows) == _WALK else limit), True
