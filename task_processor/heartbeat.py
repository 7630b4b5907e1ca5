"""Saying again and again that an owner is alive."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from task_api import TaskRepository, UnknownOwnerError

from .dispatcher import TaskDispatcher
from .listener import LOGGER

__all__ = ["Beat", "Heart"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Beat:
    """The last heartbeat that was committed."""

    moment: datetime
    """When that was, by this machine's clock."""
    age: timedelta
    """How long ago that was."""


class Heart(Generic[T]):
    """
    Beats for one owner, and registers it again if it was forgotten meanwhile.

    Args:
        repository: Whose owner to beat for.
        dispatcher: Where transactions come from.
        interval: How often it is to beat.
        on_forgotten: Called when the owner had to be registered again.

    """

    def __init__(
        self,
        repository: TaskRepository[T],
        dispatcher: TaskDispatcher[T],
        interval: timedelta,
        on_forgotten: Callable[[], object],
    ) -> None:
        self._repository = repository
        self._dispatcher = dispatcher
        self._gap = 2 * interval
        self._on_forgotten = on_forgotten
        self._steady_from = time.monotonic()
        self._lock = threading.Lock()
        self._last: tuple[datetime, float] | None = None

    @property
    def last(self) -> Beat | None:
        """The last heartbeat that was committed, if there was one."""
        with self._lock:
            last = self._last
        return None if last is None else Beat(last[0], timedelta(seconds=time.monotonic() - last[1]))

    @property
    def unsteady(self) -> timedelta:
        """
        How long it has yet to beat without a gap before it may judge others.

        Those that could not beat either, because the database was away, get their chance first.
        """
        left = self._steady_from + self._gap.total_seconds() - time.monotonic()
        return timedelta(seconds=max(left, 0))

    def register(self) -> bool:
        """Make the owner known; tell whether it is new."""
        with self._dispatcher() as tx:
            new = self._repository.register(tx)
        self._beaten()
        return new

    def beat(self) -> None:
        """Beat once, in a transaction of its own."""
        try:
            with self._dispatcher() as tx:
                self._repository.heartbeat(tx)
        except UnknownOwnerError:
            LOGGER.warning("owner %r was forgotten because it did not beat; it registers again", self._repository.owner)
            self.register()
            self._on_forgotten()
        else:
            self._beaten()

    def _beaten(self) -> None:
        now = time.monotonic()
        with self._lock:
            if self._last is None or now - self._last[1] > self._gap.total_seconds():
                self._steady_from = now
            self._last = datetime.now(UTC), now
