"""The whole of a repository: sink, source, reviver, juncture and dependencies, and what operators need."""

from collections.abc import Collection, Mapping
from datetime import date, datetime, timedelta
from typing import Protocol, TypeVar

from .dependency import TaskDependencies
from .juncture import TaskJuncture
from .listing import Counting, Direction, Listing, Snapshot, Summary
from .reviver import TaskReviver
from .sink import TaskSink
from .source import TaskSource
from .state import FINISHED, TaskResult, TaskState
from .task import INCEPTION, MAX_SEQUENCE, Task, TaskInfo

__all__ = ["TaskRepository"]

T = TypeVar("T", contravariant=True)


class TaskRepository(TaskSink[T], TaskSource[T], TaskReviver[T], TaskJuncture[T], TaskDependencies[T], Protocol[T]):
    """
    A topic-based, ordered queue in a database.

    Every call works in the caller's transaction, which comes first, and never commits or rolls it back. Errors
    that can be foreseen leave that transaction usable. ``first`` and ``last`` are inclusive sequence bounds.
    """

    owner: str
    """The name under which this repository claims tasks."""

    def register(self, tx: T) -> bool:
        """Make the owner known, and its heartbeat fresh; tell whether it is new."""
        ...

    def heartbeat(self, tx: T) -> None:
        """
        Say that the owner is alive.

        Raises:
            UnknownOwnerError: the owner is not registered.

        """
        ...

    def owners(self, tx: T, timeout: timedelta) -> set[str]:
        """Return the other owners whose last heartbeat is younger than ``timeout``."""
        ...

    def expire(self, tx: T, timeout: timedelta) -> int:
        """
        Make ACTIVE tasks of all topics EXPIRED whose lease ended, or whose owner has not beaten for ``timeout``.

        The heartbeat counts for other owners only, the lease for all. Locked tasks are skipped. Returns how many.
        """
        ...

    def purge_owners(self, tx: T, timeout: timedelta) -> int:
        """Forget other owners that have not beaten for ``timeout`` and that no task names; return how many."""
        ...

    def eject(
        self,
        tx: T,
        topic: str,
        task: Task,
        *,
        lease: timedelta | None = None,
        states: Collection[TaskState] = (TaskState.ACTIVE,),
    ) -> Task:
        """
        Take a task over at once, whoever holds it.

        Args:
            tx: The caller's transaction.
            topic: The task's topic.
            task: The task.
            lease: The length of the new claim.
            states: In which states it may be; without them, only ACTIVE. From another state it is brought back and
                claimed in one, and the attempt is counted, as by a poll.

        Raises:
            TaskStateError: the task is missing, in none of the states, or waits for others.
            UnknownOwnerError: the owner is not registered.

        """
        ...

    def initialize(self, tx: T, topic: str) -> bool:
        """Make a topic known, so that tasks can be pushed to it; tell whether it is new."""
        ...

    def destroy(self, tx: T, topic: str) -> bool:
        """Delete all tasks of a topic and forget it; tell whether it was known."""
        ...

    def topics(self, tx: T) -> set[str]:
        """Return the topics that are initialized."""
        ...

    def activation(self, tx: T, topic: str) -> bool | None:
        """Tell whether the topic is to be processed, or None if nobody has said so."""
        ...

    def activate(self, tx: T, topic: str, active: bool) -> None:  # noqa: FBT001 - the value that is stored
        """Store whether the topic is to be processed."""
        ...

    def reassign(self, tx: T, topic: str, results: Mapping[Task, TaskResult], *, message: str | None = None) -> None:
        """
        Give finished, suspended or expired tasks another result, all of them or none.

        Args:
            tx: The caller's transaction.
            topic: The tasks' topic.
            results: The new result of each task.
            message: A reason to append to their outputs.

        Raises:
            TaskStateError: some are missing or in no state to be reassigned; nothing is changed.

        """
        ...

    def reassign_all(
        self,
        tx: T,
        topic: str,
        state: TaskState,
        result: TaskResult,
        *,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
        message: str | None = None,
        skip_locked: bool = False,
    ) -> int:
        """Give every task in a state and range another result; return how many."""
        ...

    def task(self, tx: T, topic: str, sequence: int) -> TaskInfo | None:
        """Return everything about one task."""
        ...

    def page(
        self,
        tx: T,
        topic: str,
        *,
        start: int | datetime | None = None,
        size: int = 100,
        direction: Direction = Direction.FORWARD,
        listing: Listing = Listing(),  # noqa: B008 - immutable
    ) -> list[TaskInfo]:
        """
        Return up to ``size`` tasks after (or, backward, before) ``start``.

        A sequence is exclusive, so that the last one of a page starts the next. A moment is inclusive: forward
        from the first task created at or after it, backward from the last created at or before it.
        """
        ...

    def between(self, tx: T, topic: str, low: str | None, high: str | None, *, lock: bool = False) -> list[TaskInfo]:
        """
        Return the tasks with identifiers from ``low`` on and below ``high``, by identifier, then by sequence.

        Args:
            tx: The caller's transaction.
            topic: Their topic.
            low: The lowest identifier, by code points; None for no bound.
            high: The identifier that they are below, by code points; None for no bound.
            lock: Keep all of them as they are until the transaction ends: nobody else can claim or decide one.

        Raises:
            TaskStateError: with ``lock``, some are locked by others, which is not waited for.

        """
        ...

    def count(
        self,
        tx: T,
        snapshot: Snapshot = Snapshot.TOTAL,
        counting: Counting = Counting(),  # noqa: B008 - immutable
        *,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> dict[str, dict[TaskState, Summary]]:
        """Count tasks by topic and state. Every known topic appears, or only the one asked for."""
        ...

    def results(
        self, tx: T, *, since: datetime | None = None, until: datetime | None = None
    ) -> dict[str, dict[TaskResult, int]]:
        """Count results by topic, decided in the inclusive window; every known topic appears."""
        ...

    def purge(
        self,
        tx: T,
        topic: str,
        *,
        states: Collection[TaskState] = FINISHED,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> int:
        """Delete tasks in the given states, never ACTIVE ones, skipping locked ones; return how many."""
        ...

    def purge_all(self, tx: T, topic: str) -> None:
        """Delete every task of the topic, in any state."""
        ...

    def resolve(self, tx: T, moment: datetime | date, *, preceding: bool = False) -> int:
        """
        Turn a moment into a sequence, over all topics.

        Following: the lowest sequence created at or after it, MAX_SEQUENCE if there is none. Preceding: the
        highest created at or before it, INCEPTION if there is none. A date means its UTC day, start included,
        end not. Transactions overlap, so that neighbours in sequence need not be neighbours in time.
        """
        ...

    def refresh(self, tx: T) -> None:
        """Ask the database to renew its statistics on the tables."""
        ...
