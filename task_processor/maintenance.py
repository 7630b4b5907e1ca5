"""What a worker does for its topics beside working on them. Several may do the same at once."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from task_api import (
    INCEPTION,
    Listing,
    Revivification,
    TaskRepository,
    TaskResult,
    TaskState,
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

    def follow(self, stopping: Callable[[], bool]) -> None:
        """Let processors begin or end as is stored."""
        _each(self._processors, lambda topic: None if stopping() else self._processors[topic].follow())

    def purge(self, timeout: timedelta) -> None:
        """Forget owners that are long dead and that no task names."""
        with self._dispatcher() as tx:
            self._repository.purge_owners(tx, max(timeout, self._expiry))

    def _revive(self, topic: str, revivification: Revivification, stopping: Callable[[], bool]) -> None:
        after: int | None = INCEPTION
        while after is not None and not stopping():
            # Page by page, so that what is judged is what is brought back.
            found = self._give_up(topic, after)
            after = found[-1] if len(found) == _SIZE else None
            if found and (revived := self._bring_back(topic, revivification, found[0], found[-1])):
                self._revived[topic] += revived
                self._processors[topic].resume()

    def _bring_back(self, topic: str, revivification: Revivification, first: int, last: int) -> int:
        with self._dispatcher() as tx:
            revived = self._repository.recreate_state(
                tx, topic, revivification, TaskState.EXPIRED, size=_SIZE, first=first, last=last
            )
        return len(revived)

    def _give_up(self, topic: str, after: int) -> list[int]:
        """
        Fail expired tasks that had all their attempts, so that work that kills its process ends at some time.

        Returns the sequences of a page of expired tasks, these included.
        """
        limit, failed = self._processors[topic].max_attempts, 0
        with self._dispatcher() as tx:
            found = self._repository.page(tx, topic, start=after, size=_SIZE, listing=Listing(state=TaskState.EXPIRED))
            for task in found:
                if limit is not None and task.attempt >= limit:
                    # Only if it is still expired: somebody may have brought it back, and it may be done by now.
                    failed += self._repository.reassign_all(
                        tx,
                        topic,
                        TaskState.EXPIRED,
                        TaskResult.FAILURE,
                        first=task.sequence,
                        last=task.sequence,
                        message=f"expired at attempt {limit}, which was the last",
                        skip_locked=True,
                    )
        if failed:
            LOGGER.warning("topic %r: tasks that expired at their last attempt and failed: %s", topic, failed)
        return [task.sequence for task in found]

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
