"""
How far the consumers of a topic have come, so that a poll need not walk over what is done.

A finished task leaves its entry in the index of READY ones until the next vacuum, and longer while any old snapshot is
held, so that each poll from the start steps over all of them. A poll that starts at a *floor* does not. The floor is
exact, not a guess: no READY task lies below it, and none will, except by a way back to READY that is noted in the
column "late", which every poll consults.

A task below a number that has been seen can still turn up only if the transaction that pushes it was running when that
number was seen: it drew its own number before (one generator, cache 1), and had its transaction id before it drew. So
the floor moves in two steps. First, the highest sequence seen so far is fenced by a transaction id that is assigned
after it was seen. Once every transaction below the fence has ended, everything below that sequence is settled, and the
floor is the lowest READY task as a plain read sees it, claims that may yet be rolled back included, or that sequence.
Only a transaction that has not written yet can judge: another reads past its own claims.

All that holds for one database and its numbers. One that was restored counts from lower numbers. So a poll that finds
nothing asks how far the generator is, and forgets what lies above; and every so often the floor is looked for from the
start again, in case that the numbers have caught up since, or that somebody made tasks READY by hand.
"""

from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from ..transaction import Transaction
from .claim import LAST

__all__ = ["Floor", "Look"]

_STRIDE: Final = 500
"""How many tasks are polled between two looks in the end; fewer at first. A task that comes alone waits for none."""
_TRUSTED: Final = 30.0
"""For so many seconds a floor is believed, before it is looked for from the start."""


class Look(NamedTuple):
    """A look at how far the consumers of a topic have come, that is to be taken."""

    start: int
    """The sequence to look from."""
    seen: int
    """The highest sequence that was seen before."""
    afresh: bool
    """Whether it is taken from the start."""


class Floor:
    """The floor of one topic, as one repository knows it."""

    __slots__ = ("_fence", "_fenced", "_left", "_lock", "_seen", "_stride", "_trusted", "sequence", "settled")

    def __init__(self) -> None:
        self.sequence = 0
        """No READY task lies below this sequence, unless it is noted as late."""
        self.settled = 0
        """No task below this sequence is still to come."""
        self._left = 0
        self._stride = 1
        self._seen = 0
        self._fenced = 0
        self._fence: int | None = None
        self._trusted = 0.0
        self._lock = Lock()

    def forget(self) -> None:
        """Start again from nothing."""
        with self._lock:
            self.sequence, self.settled, self._left, self._stride = 0, 0, 0, 1
            self._seen, self._fenced, self._fence = 0, 0, None

    def outdated(self, tx: Transaction) -> bool:
        """Tell whether the numbers have gone back since."""
        known = max(self._seen, self.settled)
        if not known:
            return False
        [(last,)] = tx.rows(LAST)
        return last is not None and last < known

    def passed(self, highest: int, number: int) -> None:
        """Note what a poll brought."""
        with self._lock:
            self._seen = max(self._seen, highest)
            self._left -= number

    def due(self) -> Look | None:
        """Tell what look to take, if enough was polled or time has passed since the last; to be asked before a poll."""
        with self._lock:
            now = monotonic()
            afresh = now >= self._trusted
            if self._left > 0 and not afresh:
                return None
            self._left = self._stride
            self._stride = min(2 * self._stride, _STRIDE)
            if afresh:
                self._trusted = now + _TRUSTED
            return Look(0 if afresh else self.sequence, self._seen, afresh)

    def learn(self, look: Look, own: int | None, oldest: int, lowest: int | None, highest: int | None) -> bool:
        """Note what a look brought, as `PROBE` says; tell whether it is one to go by."""
        # Critical section: threads may come back in another order, none of them may move the floor too far.
        with self._lock:
            if lowest is not None and lowest < self.sequence:
                self.sequence = lowest  # which is never wrong: what lies below is passed over once more
            if own is None:  # a transaction that has written may have claimed tasks itself, and reads past them
                return False
            if self._fence is not None and oldest >= self._fence:
                settled = self._fenced if lowest is None else min(self._fenced, lowest)
                self.sequence = max(self.sequence, settled)
                self.settled = max(self.settled, self._fenced)
                self._fence = None
            if self._fence is None:
                # READY tasks were seen before the id was assigned too: the snapshot is older than that.
                self._fenced, self._fence = max(look.seen, lowest or 0, highest or 0), own
        return True
