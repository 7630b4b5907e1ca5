"""What a worker does for its topics beside working on them. Several may do the same at once."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from task_api import (
    INCEPTION,
    Listing,
    Revivification,
    TaskRepository,
    TaskResult,
    TaskState,
    TaskStateError,
)

from .dispatcher import TaskDispatcher
from .due import DueClock
from .listener import LOGGER
from .processor import TaskProcessor

__all__ = ["Maintenance"]

T = TypeVar("T")
R = TypeVar("R")

_SIZE: Final = 500


class Maintenance(Generic[T]):
    """
    Expires what the dead left, brings it back, and makes tasks READY that are due.

    Every call takes transactions of its own and skips what others have locked, so that workers do not wait for each
    other.
    """

    def __init__(
        self,
        repository: TaskRepository[T],
        dispatcher: TaskDispatcher[T],
        processors: Mapping[str, TaskProcessor],
        expiry: timedelta,
        on_expired: Revivification | None,
    ) -> None:
        self._repository = repository
        self._dispatcher = dispatcher
        self._processors = processors
        self._expiry = expiry
        self._on_expired = on_expired
        self._clock = DueClock()
        self._pending: dict[str, datetime] = {}
        self._expired = 0
        self._revived = Counter[str]()
        self._promoted = Counter[str]()

    @property
    def expired(self) -> int:
        """How many tasks were expired so far, of whatever topic."""
        return self._expired

    def revived(self, topic: str) -> int:
        """How many tasks of a topic were brought back so far."""
        return self._revived[topic]

    def promoted(self, topic: str) -> int:
        """How many tasks of a topic were made READY so far because they were due."""
        return self._promoted[topic]

    def adopt(self) -> None:
        """End the claims that an earlier process of the same owner left, so that they expire like any other."""
        owner, number = self._repository.owner, 0
        for topic in self._processors:
            with self._dispatcher() as tx:
                start = INCEPTION
                while found := self._repository.page(
                    tx, topic, start=start, size=_SIZE, listing=Listing(state=TaskState.ACTIVE)
                ):
                    start = found[-1].sequence
                    for task in found:
                        if task.owner == owner:
                            self._repository.eject(tx, topic, task, lease=timedelta())
                            number += 1
        if number:
            LOGGER.warning("an earlier process left %s tasks as owner %r; they expire now", number, owner)

    def expire(self) -> None:
        """Expire tasks, of whatever topic, whose owner is dead or whose lease has ended."""
        with self._dispatcher() as tx:
            expired = self._repository.expire(tx, self._expiry)
        self._expired += expired

    def revive(self, stopping: Callable[[], bool]) -> None:
        """Bring expired tasks back."""
        revivification = self._on_expired
        if revivification is not None:
            _each(self._processors, lambda topic: self._revive(topic, revivification, stopping))

    def promote(self) -> timedelta | None:
        """Make tasks READY that are due, and return how long to wait for the next ones."""
        waits = _each(self._processors, self._promote)
        return min((wait for wait in waits if wait is not None), default=None)

    def recover(self) -> None:
        """Give back what could be neither completed nor failed."""
        _each(self._processors, lambda topic: self._processors[topic].recover())

    def purge(self, timeout: timedelta) -> None:
        """Forget owners that are long dead and that no task names."""
        with self._dispatcher() as tx:
            self._repository.purge_owners(tx, max(timeout, self._expiry))

    def _revive(self, topic: str, revivification: Revivification, stopping: Callable[[], bool]) -> None:
        found = _SIZE
        while found == _SIZE and not stopping():
            self._give_up(topic)
            with self._dispatcher() as tx:
                found = len(self._repository.recreate_state(tx, topic, revivification, TaskState.EXPIRED, size=_SIZE))
            if found:
                self._revived[topic] += found
                self._processors[topic].resume()

    def _give_up(self, topic: str) -> None:
        """Fail expired tasks that had all their attempts, so that work that kills its process ends at some time."""
        limit = self._processors[topic].max_attempts
        if limit is None:
            return
        with self._dispatcher() as tx:
            found = self._repository.page(tx, topic, size=_SIZE, listing=Listing(state=TaskState.EXPIRED))
            if spent := [task for task in found if task.attempt >= limit]:
                message = f"expired at attempt {limit}, which was the last"
                with suppress(TaskStateError):  # another worker was faster
                    self._repository.reassign(tx, topic, dict.fromkeys(spent, TaskResult.FAILURE), message=message)
                    LOGGER.warning("topic %r: %s tasks expired at their last attempt and failed", topic, len(spent))

    def _promote(self, topic: str) -> timedelta | None:
        with self._dispatcher() as tx:
            asked = self._clock.now()
            promoted = self._repository.promote(tx, topic)
            due = self._repository.next_due(tx, topic)
        before = self._pending.pop(topic, None)
        if promoted:
            self._promoted[topic] += promoted
            self._processors[topic].resume()
            if before is not None and before != due:
                self._clock.was_due(before)
        if due is None:
            return None
        self._pending[topic] = due
        return self._clock.is_due_in(due, asked)


def _each(topics: Iterable[str], call: Callable[[str], R]) -> list[R]:
    """Call for every topic, so that one that fails costs the others nothing; then raise what failed last."""
    results, problem = list[R](), None
    for topic in topics:
        try:
            results.append(call(topic))
        except Exception as error:  # noqa: BLE001 - raised in the end
            problem = error
    if problem is not None:
        raise problem
    return results
