"""What most tests of the processor need: a listener that remembers, and managers and workers that end in the end."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from task_api import LostTaskError, TaskDecision
from task_processor import TaskListener, TaskManager, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from task_api import Task, TaskRepository
    from task_processor import TaskHandlerFactory
    from tests.backends import Backend, Transaction

PATIENCE = 30.0
"""How many seconds a test waits for what should happen at once."""

LONG = timedelta(hours=1)
"""A pause that no test waits for."""


BRISK: Any = {"heartbeat": timedelta(milliseconds=50), "promotion": timedelta(milliseconds=50)}
"""How a worker is set in a test that waits for what it does now and then."""

MOMENT = timedelta(milliseconds=1)
"""A time limit that is over at once."""


BATCH = ["start", "callback", "complete", "dispatched"]
"""What is heard of a batch that succeeds."""


def eventually(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    deadline, never = time.monotonic() + PATIENCE, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        never.wait(0.01)


class Recorder(TaskListener):
    """Remembers what it heard, and lets tests wait for it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.events: list[tuple[str, Any]] = []
        self.topics: set[str] = set()
        self.traces: list[Any] = []
        self.errors: list[BaseException] = []

    def names(self, *, without: tuple[str, ...] = ("empty",)) -> list[str]:
        """The events by name, in their order."""
        with self._changed:
            return [name for name, _ in self.events if name not in without]

    def wait(self, name: str, number: int = 1) -> list[Any]:
        """Wait until an event was heard so many times, and return what came with it."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._heard(name)) >= number, PATIENCE), (
                name,
                [heard for heard, _ in self.events[-20:]],
            )
            return self._heard(name)

    def on_fatal(self, topic: str, error: BaseException) -> None:
        """Remember."""
        self._hear("fatal", topic, error)

    def on_empty(self, topic: str) -> None:
        """Remember."""
        self._hear("empty", topic, None)

    def on_start(self, topic: str, tasks: Sequence[Task]) -> Any:  # noqa: ANN401 - as declared
        """Remember, and give the tasks as trace."""
        self._hear("start", topic, tasks)
        return tuple(tasks)

    def on_dispatched(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """Remember."""
        self._hear("dispatched", topic, tasks, trace)

    def on_callback(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """Remember."""
        self._hear("callback", topic, tasks, trace)

    def on_complete(self, topic: str, trace: Any, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ANN401
        """Remember."""
        self._hear("complete", topic, decisions, trace)

    def on_error(self, topic: str, trace: Any, tasks: Sequence[Task], error: BaseException) -> None:  # noqa: ANN401
        """Remember."""
        self.errors.append(error)
        self._hear("error", topic, tasks, trace)

    def on_lost(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """Remember."""
        self._hear("lost", topic, tasks, trace)

    def _heard(self, name: str) -> list[Any]:
        return [value for heard, value in self.events if heard == name]

    def _hear(self, name: str, topic: str, value: object, trace: object = None) -> None:
        with self._changed:
            self.topics.add(topic)
            self.events.append((name, value))
            if trace is not None:
                self.traces.append(trace)
            self._changed.notify_all()


class Gate:
    """Holds work up until the test lets it go."""

    def __init__(self) -> None:
        self._entered = threading.Semaphore(0)
        self._open = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.open()

    def pass_through(self, *_: object) -> None:
        """Say that the work has come this far, and wait."""
        self._entered.release()
        assert self._open.wait(PATIENCE), "nobody opened the gate"

    def wait(self) -> None:
        """Wait until one more worker has come."""
        assert self._entered.acquire(timeout=PATIENCE), "nobody came"

    def open(self) -> None:
        """Let everybody through, now and later."""
        self._open.set()


class Shaky:
    """A dispatcher whose transactions can be made to fail."""

    def __init__(self, backend: Backend) -> None:
        self.begin_transaction = backend.begin
        self.down = threading.Event()
        self.commits_fail = threading.Event()
        self.refused = 0

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Begin a transaction, unless the database is away."""
        if self.down.is_set():
            self.refused += 1
            message = "the database is away"
            raise ConnectionError(message)
        with self.begin_transaction() as tx:
            yield tx
            if self.commits_fail.is_set():
                message = "the commit failed"
                raise ConnectionError(message)


class PlainHandler:
    """A handler made of a function that takes all that a handler takes."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.closed = 0

    def __call__(self, tasks: Sequence[Task], callback: Any, on_failure: Any, /) -> None:  # noqa: ANN401
        """Call the function."""
        self.function(tasks, callback, on_failure)

    def close(self) -> None:
        """Count."""
        self.closed += 1


class Watched:
    """A source that tells what is asked of it."""

    def __init__(self, repository: TaskRepository[Any]) -> None:
        self._repository = repository
        self.under_way: list[int] = []
        self.manager: TaskManager[Any] | None = None
        self.extended = threading.Semaphore(0)
        self.lost = threading.Semaphore(0)

    def poll_many(self, *arguments: Any, **options: Any) -> list[Task]:
        """Note how many batches are under way."""
        if self.manager is not None:
            self.under_way.append(self.manager.statistics.batches)
        return self._repository.poll_many(*arguments, **options)

    def extend(self, *arguments: Any) -> None:
        """Tell how it ended."""
        try:
            self._repository.extend(*arguments)
        except LostTaskError:
            self.lost.release()
            raise
        self.extended.release()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's
        return getattr(self._repository, name)


def handled(tasks: Sequence[Task]) -> dict[Task, TaskDecision]:
    """All succeed."""
    return dict.fromkeys(tasks, TaskDecision.SUCCESS)


def numbers(recorder: Recorder, name: str) -> list[str]:
    """The tasks of each batch that was heard of, by identifier."""
    return ["".join(task.identifier for task in tasks) for heard, tasks in recorder.events if heard == name]


@contextmanager
def running(
    backend: Backend,
    repository: TaskRepository[Any],
    factory: TaskHandlerFactory,
    *,
    topic: str = "topic",
    **options: Any,
) -> Iterator[TaskManager[Any]]:
    """A started manager that pauses long unless told otherwise, stopped in the end."""
    options = {"pause": LONG, **options}
    manager = TaskManager(topic, repository, backend.begin, factory, **options)
    assert manager.start() is True
    try:
        yield manager
    finally:
        manager.stop()


@contextmanager
def working(
    backend: Backend,
    repository: TaskRepository[Any],
    factory: TaskHandlerFactory,
    *,
    topic: str = "topic",
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Iterator[Worker[Any]]:
    """A started worker with one manager, which pauses long unless the options say otherwise; stopped in the end."""
    manager = TaskManager(topic, repository, backend.begin, factory, **{"pause": LONG, **(options or {})})
    worker = Worker(repository, backend.begin, [manager], **{**BRISK, **settings})
    assert worker.start() is True
    try:
        yield worker
    finally:
        worker.stop()
