"""A batch whose claim is committed: work first, then decide in a transaction of its own."""

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

from task_api import LostTaskError, Task, TaskDecision

from .connection import broken, refused
from .handler import Completion, ShutdownError, TaskHandler, UnavailableError
from .outcome import FirstOutcome
from .work import Work

__all__ = ["CommittedBatch"]

T = TypeVar("T")


class CommittedBatch(Generic[T]):
    """One batch from its poll to its outcome, which may come from any thread."""

    def __init__(self, work: Work[T], tasks: Sequence[Task], release: Callable[[], None]) -> None:
        self.tasks = tuple(tasks)
        self._work = work
        self._release = release
        self._outcome = FirstOutcome(work.topic)
        self._trace: Any = None
        self._lock = threading.Lock()
        self._gone: set[Task] = set()

    def handle(self, handler: TaskHandler) -> None:
        """Hand the batch to the handler."""
        reporter = self._work.reporter
        # Known before anything else, so that whoever gives back what is under way finds it.
        self._work.begin(self)
        self._trace = reporter.start(self.tasks)
        try:
            handler(self.tasks, self.callback, self.on_failure)
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises fails its batch alone
            if self._outcome.take("raised error", error):
                self._fail(error)
        reporter.dispatched(self._trace, self.tasks)

    def callback(self, completion: Completion) -> bool:
        """Run the completion and store its decisions in one transaction; tell whether they were committed."""
        if not self._outcome.take("callback"):
            return False
        work = self._work
        work.reporter.callback(self._trace, self.tasks)
        if self._gone:
            self._lose(())
            return False
        # Until a transaction is there, and again once all is written, it is not the work that fails.
        blameless = True
        away = False
        try:
            with work.dispatcher() as tx:
                blameless = False
                try:
                    decisions = work.complete(tx, self.tasks, completion(tx))
                except BaseException as error:
                    away = broken(tx, error)
                    raise
                blameless = True
        except BaseException as error:  # noqa: BLE001 - whatever a completion raises fails its batch alone
            if lost := work.lost(self.tasks, error):
                self._lose(lost)
            elif away or (blameless and refused(error)):
                self._defer(error)
            else:
                self._fail(error)
            return False
        self._settle()
        work.reporter.complete(self._trace, decisions)
        return True

    def on_failure(self, error: BaseException) -> bool:
        """Store that all tasks of the batch failed; tell whether that was committed."""
        return self._outcome.take("failure", error) and self._fail(error)

    def abandon(self) -> int:
        """Give the tasks back unless they are decided already, and return how many."""
        if self._outcome.taken or not self._outcome.take("request to give it back"):
            # Its transaction goes on, and finds either the tasks or their loss.
            return self._work.give_back(self._held())
        given_back = self._work.give_back(self._held())
        self._settle()
        error = ShutdownError("the batch was given back while it was worked on")
        self._work.reporter.error(self._trace, self.tasks, error)
        return given_back

    def extend(self, lease: timedelta) -> None:
        """Move the end of the claims; those that are lost are reported, and so is nothing that was decided."""
        while held := self._held():
            try:
                with self._work.dispatcher() as tx:
                    self._work.source.extend(tx, self._work.topic, held, lease)
            except LostTaskError as error:
                # Critical section: either it is reported here, or by the decision that is under way.
                with self._lock:
                    if self._outcome.taken:
                        return
                    lost = self._newly_gone(self._work.lost(held, error))
                self._work.reporter.lost(self._trace, lost)
            else:
                return

    def _held(self) -> list[Task]:
        return [task for task in self.tasks if task not in self._gone]

    def _newly_gone(self, lost: Sequence[Task]) -> tuple[Task, ...]:
        new = tuple(task for task in lost if task not in self._gone)
        self._gone = self._gone | set(lost)
        return new

    def _settle(self) -> None:
        self._work.end(self)
        self._release()

    def _lose(self, lost: Sequence[Task]) -> None:
        with self._lock:
            new = self._newly_gone(lost)
        self._work.give_back(self._held())
        self._settle()
        if new:
            self._work.reporter.lost(self._trace, new)

    def _fail(self, error: BaseException) -> bool:
        if isinstance(error, UnavailableError):
            return self._defer(error)
        work, lost = self._work, list[Task]()
        decisions: dict[Task, TaskDecision] = {}
        while (held := self._held()) and not decisions:
            try:
                with work.dispatcher() as tx:
                    stored = work.fail(tx, held, error)
                decisions = stored
            except BaseException as second:  # noqa: BLE001 - reported
                if gone := work.lost(held, second):
                    with self._lock:
                        lost += self._newly_gone(gone)
                    continue
                second.add_note(f"while a batch was to be failed because of {error!r}")
                if second.__context__ is None:
                    second.__context__ = error
                work.strays.add(held)
                work.reporter.fatal(second)
                break
        self._settle()
        if lost:
            work.reporter.lost(self._trace, tuple(lost))
        if held:
            work.reporter.error(self._trace, tuple(held), error, decisions)
        return bool(decisions)

    def _defer(self, error: BaseException) -> bool:
        """Give the tasks back, to be polled again after a while."""
        self._work.give_back(self._held())
        self._settle()
        self._work.setback.set()
        self._work.reporter.fatal(error)
        self._work.reporter.error(self._trace, self.tasks, error)
        return False
