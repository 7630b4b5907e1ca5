"""A batch whose claim is committed: work first, then decide in a transaction of its own."""

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar

from task_api import LostTaskError, Task, TaskDecision

from .connection import broken, refused
from .dispatcher import swallowed
from .extension import extend
from .handler import Completion, HandedOverError, ShutdownError, TaskHandler, UnavailableError
from .outcome import FirstOutcome
from .work import Work

__all__ = ["CommittedBatch"]

T = TypeVar("T")

_PATIENCE: Final = 1.0
"""How many seconds an extension of the claims is waited for before they are given up."""


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
        self._begun = False
        self._extending = threading.Lock()
        self._given_back = False
        # Known before anything else, so that whoever gives back what is under way finds it.
        work.begin(self)

    def handle(self, handler: TaskHandler) -> None:
        """Hand the batch to the handler, unless it was given back while it waited for its turn."""
        # Critical section: what is lost before is reported here, and what is lost later by whoever finds out.
        with self._lock:
            if self._outcome.taken:
                return
            self._begun = True
            lost = tuple(task for task in self.tasks if task in self._gone) if self._gone else ()
        reporter = self._work.reporter
        self._trace = reporter.start(self.tasks)
        if lost:
            self._lose_unbegun(lost)
        else:
            self._hand(handler)
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
        # Until a transaction is there, and again once the work has decided, it is not the work that fails.
        begun = blameless = away = False
        decisions: dict[Task, TaskDecision] | None = None
        try:
            with work.dispatcher() as tx:
                begun = True
                try:
                    found = completion(tx)
                    blameless = True
                    decisions = work.complete(tx, self.tasks, found)
                except BaseException as error:
                    away = broken(tx, error)
                    raise
        except BaseException as error:  # noqa: BLE001 - whatever a completion raises fails its batch alone
            if lost := work.lost(self.tasks, error):
                self._lose(lost)
            elif not begun or away or (blameless and refused(error)):
                self._defer(error)
            else:
                self._fail(error)
            return False
        if decisions is None:
            return self._defer(swallowed())
        self._settle()
        work.reporter.complete(self._trace, decisions)
        return True

    def on_failure(self, error: BaseException) -> bool:
        """Store that all tasks of the batch failed; tell whether that was committed."""
        return self._outcome.take("failure", error) and self._end(error)

    def abandon(self) -> int:
        """Give the tasks back unless they are decided already, and return how many."""
        # Critical section: either its turn does not come, or it is told that it was given back.
        with self._lock:
            first = not self._outcome.taken and self._outcome.take("request to give it back")
            begun = self._begun
        given_back = self._give_back(self._held())
        if first:
            self._settle()
            if begun:
                error = ShutdownError("the batch was given back while it was worked on")
                self._work.reporter.error(self._trace, self.tasks, error)
        # Otherwise its transaction goes on, and finds either the tasks or their loss.
        return given_back

    def extend(self, lease: timedelta) -> None:
        """Move the end of the claims; those that are lost are reported, and so is nothing that was decided."""
        lost: list[Task] = []
        try:
            with self._extending:
                while not self._given_back and (held := self._held()):
                    try:
                        extend(self._work.source, self._work.dispatcher, self._work.topic, held, lease)
                    except LostTaskError as error:
                        # Critical section: either it is reported here, or by the decision that is under way.
                        with self._lock:
                            if self._outcome.taken:
                                return
                            new = self._newly_gone(self._work.lost(held, error))
                            lost += new if self._begun else ()
                    else:
                        return
        finally:
            if lost:
                self._work.reporter.lost(self._trace, tuple(lost))

    def _hand(self, handler: TaskHandler) -> None:
        try:
            with self._outcome.awaited():
                handler(self.tasks, self.callback, self.on_failure)
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises fails its batch alone
            if self._outcome.take("raised error", error):
                self._end(error)

    def _held(self) -> list[Task]:
        return [task for task in self.tasks if task not in self._gone]

    def _newly_gone(self, lost: Sequence[Task]) -> tuple[Task, ...]:
        new = tuple(task for task in lost if task not in self._gone)
        self._gone = self._gone | set(lost)
        return new

    def _give_back(self, tasks: Sequence[Task]) -> int:
        """Release tasks that are still held, and return how many."""
        # An extension that is under way locks them for a moment, in which the next poll would pass over them. One that
        # hangs is not waited for: it may wait for a database that is away.
        self._given_back = True
        if self._extending.acquire(timeout=_PATIENCE):
            self._extending.release()
        return self._work.give_back(tasks)

    def _settle(self) -> None:
        self._work.end(self)
        self._release()

    def _lose(self, lost: Sequence[Task]) -> None:
        with self._lock:
            new = self._newly_gone(lost)
        self._give_back(self._held())
        self._settle()
        if new:
            self._work.reporter.lost(self._trace, new)

    def _lose_unbegun(self, lost: tuple[Task, ...]) -> None:
        """Give back what is left of a batch that lost tasks while it waited for its turn."""
        if self._outcome.take("loss"):
            self._give_back(self._held())
            self._settle()
            self._work.reporter.lost(self._trace, lost)

    def _end(self, error: BaseException) -> bool:
        """Do as a handler says by its error; tell whether anything was stored."""
        return self._hand_over(error) if isinstance(error, HandedOverError) else self._fail(error)

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
                # They would be polled again at once, and worked on for nothing.
                work.setback.set()
                work.strays.add(held)
                work.reporter.fatal(second)
                break
        self._settle()
        if lost:
            work.reporter.lost(self._trace, tuple(lost))
        if held:
            work.reporter.error(self._trace, tuple(held), error, decisions)
        return bool(decisions)

    def _hand_over(self, outcome: HandedOverError) -> bool:
        """Forget tasks that others hold now, store the decisions on others, and give back the rest."""
        with self._lock:
            self._gone = self._gone | outcome.tasks
        work, decisions = self._work, dict[Task, TaskDecision]()
        if decided := [task for task in self._held() if task in outcome.decisions]:
            try:
                with work.dispatcher() as tx:
                    stored = work.complete(tx, decided, outcome.decisions)
                decisions = stored
            except BaseException as error:  # noqa: BLE001 - reported
                if lost := work.lost(decided, error):
                    self._lose(lost)
                else:
                    self._defer(error)
                return False
        if rest := [task for task in self._held() if task not in decisions]:
            # First, so that nobody polls them at once.
            work.setback.set()
            self._give_back(rest)
        self._settle()
        if decisions:
            work.reporter.complete(self._trace, decisions)
        return bool(decisions)

    def _defer(self, error: BaseException) -> bool:
        """Give the tasks back, to be polled again after a while."""
        # First, so that nobody polls them at once.
        self._work.setback.set()
        self._give_back(self._held())
        self._settle()
        self._work.reporter.fatal(error)
        self._work.reporter.error(self._trace, self.tasks, error)
        return False
