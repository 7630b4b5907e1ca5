"""A batch whose claim is committed: work first, then decide in a transaction of its own."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from task_api import Task

from .handler import Completion, ShutdownError, TaskHandler
from .outcome import FirstOutcome
from .work import Work

__all__ = ["CommittedBatch"]

T = TypeVar("T")


class CommittedBatch(Generic[T]):
    """One batch from its poll to its outcome, which may come from any thread."""

    def __init__(self, work: Work[T], tasks: Sequence[Task], release: Callable[[], None]) -> None:
        self._work = work
        self._tasks = tuple(tasks)
        self._release = release
        self._outcome = FirstOutcome(work.topic)
        self._trace: Any = None

    def handle(self, handler: TaskHandler) -> None:
        """Hand the batch to the handler."""
        reporter = self._work.reporter
        self._work.begin(self)
        self._trace = reporter.start(self._tasks)
        try:
            handler(self._tasks, self.callback, self.on_failure)
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises fails its batch alone
            if self._take("raised error", error):
                self._fail(error)
        reporter.dispatched(self._trace, self._tasks)

    def callback(self, completion: Completion) -> bool:
        """Run the completion and store its decisions in one transaction; tell whether they were committed."""
        if not self._take("callback"):
            return False
        work = self._work
        work.reporter.callback(self._trace, self._tasks)
        try:
            with work.dispatcher() as tx:
                decisions = work.complete(tx, self._tasks, completion(tx))
        except BaseException as error:  # noqa: BLE001 - whatever a completion raises fails its batch alone
            if lost := work.lost(self._tasks, error):
                self._lose(lost)
            else:
                self._fail(error)
            return False
        self._release()
        work.reporter.complete(self._trace, decisions)
        return True

    def on_failure(self, error: BaseException) -> bool:
        """Store that all tasks of the batch failed; tell whether that was committed."""
        return self._take("failure", error) and self._fail(error)

    def abandon(self) -> int:
        """Give the tasks back unless the batch has an outcome already, and return how many."""
        if not self._take("request to give it back"):
            return 0
        self._work.give_back(self._tasks)
        self._release()
        error = ShutdownError("the batch was given back while it was worked on")
        self._work.reporter.error(self._trace, self._tasks, error)
        return len(self._tasks)

    def _take(self, outcome: str, error: BaseException | None = None) -> bool:
        first = self._outcome.take(outcome, error)
        self._work.end(self)
        return first

    def _lose(self, lost: Sequence[Task]) -> None:
        gone = set(lost)
        self._work.give_back([task for task in self._tasks if task not in gone])
        self._release()
        self._work.reporter.lost(self._trace, tuple(lost))

    def _fail(self, error: BaseException) -> bool:
        work, held, lost = self._work, list(self._tasks), list[Task]()
        stored = False
        while held and not stored:
            try:
                with work.dispatcher() as tx:
                    work.fail(tx, held, error)
                stored = True
            except BaseException as second:  # noqa: BLE001 - reported
                if gone := set(work.lost(held, second)):
                    lost += sorted(gone)
                    held = [task for task in held if task not in gone]
                    continue
                second.add_note(f"while a batch was to be failed because of {error!r}")
                if second.__context__ is None:
                    second.__context__ = error
                work.strays.add(held)
                work.reporter.fatal(second)
                break
        self._release()
        if lost:
            work.reporter.lost(self._trace, tuple(lost))
        if held:
            work.reporter.error(self._trace, tuple(held), error)
        return stored
