"""What all batches of one processor have in common: where they come from and how they are decided."""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from operator import is_
from typing import Generic, Protocol, TypeVar

from task_api import InvalidTaskError, LostTaskError, Task, TaskDecision, TaskSource

from .dispatcher import TaskDispatcher
from .listener import Reporter
from .retry import RetryPolicy

__all__ = ["Batch", "Strays", "Work"]

T = TypeVar("T")


class Strays:
    """Tasks that could be neither decided nor given back, because the database was away."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: list[Task] = []
        # Held while they are given back: whoever polls next must not get them in the midst of that.
        self.recovering = threading.Lock()

    def add(self, tasks: Collection[Task]) -> None:
        """Remember tasks to be given back later."""
        with self._lock:
            self._tasks += tasks

    def take(self) -> list[Task]:
        """Return all of them and forget them."""
        with self._lock:
            tasks, self._tasks = self._tasks, []
        return tasks


class Batch(Protocol):
    """A batch that is under way: polled, and not yet decided for good."""

    @property
    def tasks(self) -> Sequence[Task]:
        """Its tasks."""
        ...

    def abandon(self) -> int:
        """Give its tasks back unless they are decided already, and return how many."""
        ...

    def extend(self, lease: timedelta) -> None:
        """Move the end of its claims; those that are lost are reported."""
        ...


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """How the batches of one topic are decided, failed and given back."""

    topic: str
    """The topic of all tasks."""
    source: TaskSource[T]
    """Where they are decided."""
    dispatcher: TaskDispatcher[T]
    """Where transactions come from."""
    reporter: Reporter
    """Whom to tell."""
    retry: RetryPolicy | None = None
    """What becomes of failures."""
    strays: Strays = field(default_factory=Strays)
    """What waits for the database to come back."""
    open: "set[Batch]" = field(default_factory=set)
    """The batches that are under way."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Guards them."""
    setback: threading.Event = field(default_factory=threading.Event)
    """A batch could not even begin, or not be decided, so that there is no use in polling another at once."""

    def begin(self, batch: Batch) -> None:
        """Remember a batch until it ends."""
        with self.lock:
            self.open.add(batch)

    def end(self, batch: Batch) -> None:
        """Forget a batch."""
        with self.lock:
            self.open.discard(batch)

    def under_way(self) -> list[Batch]:
        """The batches that are under way."""
        with self.lock:
            return list(self.open)

    def abandon(self) -> int:
        """Give back all that is under way, and return how many tasks that were."""
        return sum(batch.abandon() for batch in self.under_way())

    def complete(self, tx: T, tasks: Collection[Task], found: Mapping[Task, TaskDecision]) -> dict[Task, TaskDecision]:
        """Check the decisions on a batch, store them, and return what was stored."""
        decisions = self._checked(tasks, found)
        self.source.complete_many(tx, self.topic, decisions)
        return decisions

    def fail(self, tx: T, tasks: Collection[Task], error: BaseException) -> dict[Task, TaskDecision]:
        """Store that all these tasks failed, and return what was stored."""
        decisions = {task: self._retried(task, TaskDecision.failure(error)) for task in tasks}
        self.source.complete_many(tx, self.topic, decisions)
        return decisions

    def lost(self, tasks: Collection[Task], error: BaseException) -> list[Task]:
        """Tell which of the tasks an error says are lost; it may be about others."""
        if not isinstance(error, LostTaskError) or error.topic not in ("", self.topic):
            return []
        return [task for task in tasks if task in error.tasks]

    def give_back(self, tasks: Collection[Task]) -> int:
        """Release those of the tasks that are still held, and return how many; keep them for later if need be."""
        try:
            return self._release(tasks)
        except BaseException as error:  # noqa: BLE001 - the database is away, which is reported
            self.strays.add(tasks)
            self.reporter.fatal(error)
            return 0

    def recover(self) -> None:
        """Release what waits for the database to come back; raises if it has not."""
        with self.strays.recovering:
            if tasks := self.strays.take():
                try:
                    self._release(tasks)
                except BaseException:
                    self.strays.add(tasks)
                    raise

    def _release(self, tasks: Collection[Task]) -> int:
        while tasks:
            try:
                with self.dispatcher() as tx:
                    self.source.release(tx, self.topic, tasks)
            except LostTaskError as error:
                # Whoever holds those now decides them; the others are still ours.
                tasks = [task for task in tasks if task not in error.tasks]
            else:
                break
        return len(tasks)

    def _checked(self, tasks: Collection[Task], found: Mapping[Task, TaskDecision]) -> dict[Task, TaskDecision]:
        if not isinstance(found, Mapping):
            message = f"a completion gives a mapping from task to decision, not {type(found).__name__}"
            raise InvalidTaskError(message)
        if self.retry is None and _decides_all(found, tasks):
            return dict(found)
        held = set(tasks)
        if foreign := [task for task in found if task not in held]:
            message = f"topic {self.topic!r}: decisions for tasks outside of the batch: {', '.join(map(str, foreign))}"
            raise InvalidTaskError(message)
        # Keyed by the tasks that were polled: a handler's may be copies without the token.
        return {task: self._retried(task, _decision(found.get(task))) for task in tasks}

    def _retried(self, task: Task, decision: TaskDecision) -> TaskDecision:
        return decision if self.retry is None else self.retry.apply(task, decision)


def _decides_all(found: Mapping[Task, TaskDecision], tasks: Collection[Task]) -> bool:
    """Tell whether the very tasks that were polled are decided in their order, as most batches are."""
    if len(found) != len(tasks) or not all(map(is_, found, tasks)):
        return False
    return set(map(type, found.values())) == {TaskDecision}


def _decision(found: TaskDecision | None) -> TaskDecision:
    if found is None:
        return TaskDecision.failure("the task was missing in the result set of its batch")
    return TaskDecision.of(found)
