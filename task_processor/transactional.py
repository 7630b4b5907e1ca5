"""
A batch whose claim is the polling transaction: poll, work and decide in one.

The thread that polled keeps the transaction and is the only one to use it, as many a driver demands. The handler is
called on a second thread, so that it may wait for whomever it wants: its outcome is handed over to the first thread,
which runs the completion, commits, and answers. A handler that gives no outcome holds the transaction until the batch
is abandoned.

The handlers of plain functions need less. They never ask for the answer, so that the second thread is done once the
functions are, and where all work is done by the completion, which belongs to the first thread anyway, there is no
second one.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from contextvars import copy_context
from datetime import timedelta
from typing import Any, Generic, TypeVar

from task_api import InvalidTaskError, Task, TaskDecision

from .connection import broken, refused
from .functions import FunctionHandler
from .handler import Completion, ShutdownError, TaskHandler, UnavailableError
from .outcome import Decided, FirstOutcome
from .savepoint import EndedError, savepoint
from .work import Work

__all__ = ["TransactionalBatch"]

T = TypeVar("T")


class TransactionalBatch(Generic[T]):
    """One batch inside the transaction that claims it, which may have to wait for its turn there."""

    def __init__(self, work: Work[T], tasks: Sequence[Task]) -> None:
        self.tasks = tuple(tasks)
        # Set when its turn has come, or does not come.
        self.called = threading.Event()
        self.abandoned = False
        self.detached = False
        self._work = work
        self._outcome = FirstOutcome(work.topic)
        self._lock = threading.Lock()
        self._begun = False
        self._made = threading.Event()
        self._returned = threading.Event()
        self._completion: Completion | None = None
        self._error: BaseException | None = None
        self._answer: Future[bool] = Future()
        self._decisions: dict[Task, TaskDecision] = {}
        self._trace: Any = None
        # Known before anything else, so that whoever gives back what is under way finds it.
        work.begin(self)

    def begin(self, handler: TaskHandler, executor: Executor) -> None:
        """Hand the batch to the handler, unless it was given back while it waited for its turn."""
        # Critical section: either its turn does not come, or it is told that it was given back.
        with self._lock:
            if self._outcome.taken:
                return
            self._begun = True
        self._trace = self._work.reporter.start(self.tasks)
        if isinstance(handler, FunctionHandler) and handler.immediate:
            self._handle(handler)
        else:
            try:
                # What runs there belongs to the loop as if it ran here.
                executor.submit(copy_context().run, self._handle, handler)
            except BaseException:
                self._returned.set()  # it never ran
                raise

    def decide(self, tx: T) -> None:
        """Wait for the work's outcome and store it; a failure's effects are undone to a savepoint."""
        self._made.wait()
        if self._error is not None and (self.abandoned or isinstance(self._error, UnavailableError)):
            raise self._error
        if self._completion is not None:
            self._work.reporter.callback(self._trace, self.tasks)
            # Without effects there is nothing to undo: either nothing was written, or the transaction is of no use.
            plain = isinstance(self._completion, Decided) and self._completion.plain
            blameless = False
            try:
                with nullcontext() if plain else savepoint(tx):
                    found = self._completion(tx)
                    blameless = True
                    self._decisions = self._work.complete(tx, self.tasks, found)
            except BaseException as error:
                ended = isinstance(error, EndedError) or (plain and not isinstance(error, InvalidTaskError))
                if ended or broken(tx, error) or (blameless and refused(error)) or self._work.lost(self.tasks, error):
                    raise
                self._error = error
        if self._error is not None:
            try:
                self._decisions = self._work.fail(tx, self.tasks, self._error)
            except BaseException as second:
                second.add_note(f"while a batch was to be failed because of {self._error!r}")
                raise

    def committed(self, release: Callable[[], None]) -> None:
        """Say that the transaction was committed."""
        release()
        if self._error is None:
            self._work.reporter.complete(self._trace, self._decisions)
        else:
            self._work.reporter.error(self._trace, self.tasks, self._error, self._decisions)
        self._end(stored=True)

    def rolled_back(self, release: Callable[[], None], error: BaseException) -> None:
        """Say that the transaction was not committed, so that all is as before the poll."""
        release()
        if not self._begun:
            # Nobody has heard of it.
            self._work.end(self)
            return
        if lost := self._work.lost(self.tasks, error):
            self._work.reporter.lost(self._trace, tuple(lost))
        else:
            self._work.reporter.error(self._trace, self.tasks, error)
        self._end(stored=False)

    def abandon(self) -> int:
        """Have the transaction rolled back unless there is an outcome; the handler is waited for no longer."""
        # Critical section: see begin.
        with self._lock:
            first = not self._outcome.taken and self._outcome.take("request to give it back")
            self.detached |= self._begun and not self._returned.is_set()
        if first:
            self._error = ShutdownError("the batch was given back while it was worked on")
            self.abandoned = True
            self._made.set()
        self._returned.set()
        self.called.set()
        return len(self.tasks) if first else 0

    def extend(self, lease: timedelta) -> None:
        """Do nothing: the claim lasts as long as its transaction."""

    def _end(self, *, stored: bool) -> None:
        self._answer.set_result(stored and (self._error is None or self._completion is None))
        self._returned.wait()
        self._work.end(self)
        self._work.reporter.dispatched(self._trace, self.tasks)

    def _handle(self, handler: TaskHandler) -> None:
        try:
            if isinstance(handler, FunctionHandler):
                self._complete(handler.prepare(self.tasks))
            else:
                with self._outcome.awaited():
                    handler(self.tasks, self._callback, self._on_failure)
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises fails its batch alone
            if self._outcome.take("raised error", error):
                self._error = error
                self._made.set()
        finally:
            self._returned.set()

    def _callback(self, completion: Completion) -> bool:
        return self._complete(completion) and self._answer.result()

    def _complete(self, completion: Completion) -> bool:
        if not self._outcome.take("callback"):
            return False
        self._completion = completion
        self._made.set()
        return True

    def _on_failure(self, error: BaseException) -> bool:
        if not self._outcome.take("failure", error):
            return False
        self._error = error
        self._made.set()
        return self._answer.result()
