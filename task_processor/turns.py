"""Whose turn it is, where several threads work in the transactions in which they have polled."""

import threading
from collections import deque
from itertools import islice
from typing import Final, Generic, TypeVar

from .transactional import TransactionalBatch

__all__ = ["Turns"]

T = TypeVar("T")

PATIENCE: Final = 1.0
"""How many seconds a batch waits for its turn at most."""


class Turns(Generic[T]):
    """
    The order among threads each of which polls a batch, and works on it in the transaction of that poll.

    One thread polls at a time, and one works at a time, on the batches in the order of their polls. What waits holds
    its transaction open, and the work that it waits for may need what that has locked, or its connection. No database
    can see that. So a batch waits for a moment only and then gives way, as do all that were polled after it.

    Args:
        setback: Is set while there is no use in beginning what was polled.

    """

    def __init__(self, setback: threading.Event) -> None:
        self._setback = setback
        self._changed = threading.Condition(threading.Lock())
        # The thread that polls, or is the next to do so.
        self._poller: int | None = None
        # In the order of their polls, until their transactions have ended; it is the first one's turn.
        self._batches: deque[TransactionalBatch[T]] = deque()
        self._halted = False
        # How often that was so, now and when the thread that polls began to.
        self._halts = self._begun_after = 0
        self._closed = False

    def place(self) -> bool:
        """Wait until this thread may poll, and no other does; False when nothing is to be polled any more."""
        thread = threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: self._closed or (self._poller in (None, thread) and not self._halted))
            self._poller = thread
            self._begun_after = self._halts
            return not self._closed

    def wait(self, batch: TransactionalBatch[T], *, last: bool) -> None:
        """
        Wait for a batch's turn; give it back if that does not come, or not soon enough.

        Meanwhile another thread may poll, unless this batch is the last for now.
        """
        # Critical section: what kept the one before from being decided is known here, or halts this one.
        with self._changed:
            # What has given way since this one's poll began comes first; so nobody polls before this one is gone, too.
            self._halted |= self._begun_after != self._halts
            refused = self._closed or self._halted or self._setback.is_set()
            self._batches.append(batch)
            self._call()
            if not last:
                self._poller = None
                self._changed.notify_all()
        if refused or not batch.called.wait(PATIENCE):
            batch.abandon()

    def leave(self, batch: TransactionalBatch[T]) -> bool:
        """Say that a batch's transaction has ended; tell whether no other one is left."""
        with self._changed:
            self._batches.remove(batch)
            self._call()
            if not self._batches:
                self._halted = False
                self._changed.notify_all()
            return not self._batches

    def halt(self) -> None:
        """Give back what waits, and have nothing polled before all are gone: what comes first is polled first then."""
        with self._changed:
            self._halted = bool(self._batches)
            self._halts += 1
            for batch in islice(self._batches, 1, None):
                batch.abandon()

    def close(self) -> None:
        """Have nothing polled any more, and give back what waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.halt()

    def _call(self) -> None:
        if self._batches:
            self._batches[0].called.set()
