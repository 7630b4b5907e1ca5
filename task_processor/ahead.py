"""Batches that were polled while another one is worked on."""

import threading
from collections import deque
from typing import Generic, TypeVar

from .committed import CommittedBatch

__all__ = ["Ahead"]

T = TypeVar("T")


class Ahead(Generic[T]):
    """
    Batches between the thread that polls and the one that works, in the order of their polls.

    Args:
        limit: How many of them may wait while one is worked on.

    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._changed = threading.Condition(threading.Lock())
        self._waiting: deque[CommittedBatch[T]] = deque()
        self._working = False
        self._closed = False

    def place(self) -> bool:
        """Wait until another batch may be polled; False when none is to be polled any more."""
        with self._changed:
            while not self._closed and len(self._waiting) + self._working > self._limit:
                self._changed.wait()
            return not self._closed

    def put(self, batch: CommittedBatch[T]) -> bool:
        """Let a batch wait for its turn; False when no turn will come."""
        with self._changed:
            if not self._closed:
                self._waiting.append(batch)
                self._changed.notify_all()
            return not self._closed

    def get(self) -> CommittedBatch[T] | None:
        """Say that the last batch is done with, and wait for the next; None when there will be no more."""
        with self._changed:
            self._working = False
            self._changed.notify_all()
            while not self._closed and not self._waiting:
                self._changed.wait()
            if self._closed:
                return None
            self._working = True
            return self._waiting.popleft()

    def rest(self) -> None:
        """Wait until none is worked on and none waits; what they left undone is known then."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not (self._working or self._waiting))

    def drop(self) -> list[CommittedBatch[T]]:
        """Return all that wait, whose turn does not come now."""
        with self._changed:
            dropped = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
            return dropped

    def close(self) -> None:
        """Take no more, and let none have its turn any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def empty(self) -> bool:
        """Whether none waits."""
        return not self._waiting
