"""How a detached process gets its task, and what it does with it in the database."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Final, Generic, TypeVar

from task_api import (
    LostTaskError,
    Task,
    TaskDecision,
    TaskInfo,
    TaskRepository,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
)

from ..connection import refused
from ..dispatcher import TaskDispatcher
from ..extension import extend
from ..listener import LOGGER
from ..retry import backoff_delay
from .exit import DetachedExit

__all__ = ["DetachedClaim", "StopRequestedError", "take_over"]

T = TypeVar("T")

_DECIDED: Final = (TaskState.FAILED, TaskState.SUSPENDED, TaskState.FILTERED, TaskState.SUCCEEDED)
_DONE: Final = (TaskState.FILTERED, TaskState.SUCCEEDED)
_LOOK: Final = timedelta(seconds=1)
_FIRST_RETRY: Final = timedelta(milliseconds=100)
_LAST_RETRY: Final = timedelta(seconds=10)


class StopRequestedError(BaseException):
    """
    Raised by work in a detached process that ends early because it was asked to stop.

    A checkpoint raises it, once it is stored. Not an Exception, so that work does not take it for a problem of its
    own.
    """


class _OtherClaimError(Exception):
    """The task is held, but not by the claim that was sent."""


def take_over(
    repository: TaskRepository[T], dispatcher: TaskDispatcher[T], topic: str, sent: Task, lease: timedelta | None
) -> Task | DetachedExit:
    """
    Take a task from the claim that was sent, and from no other; otherwise say why not.

    Nothing is left in the database by who comes too late, not even its owner.
    """
    try:
        with dispatcher() as tx:
            repository.register(tx)
            task = repository.eject(tx, topic, sent, lease=lease)
            _require_next(task, sent)
    except _OtherClaimError:
        LOGGER.warning("%s is held by another claim; nothing is done", sent)
        return DetachedExit.DUPLICATE
    except TaskStateError:
        return _absence(repository, dispatcher, topic, sent)
    else:
        return task


def _require_next(task: Task, sent: Task) -> None:
    # Every claim raises the token by one: a greater step means that there was another in between.
    if task.token != sent.token + 1:
        raise _OtherClaimError


def _absence(repository: TaskRepository[T], dispatcher: TaskDispatcher[T], topic: str, sent: Task) -> DetachedExit:
    with dispatcher() as tx:
        info = repository.task(tx, topic, sent.sequence)
    if info is None:
        LOGGER.warning("there is no task %s in topic %r", sent.sequence, topic)
        return DetachedExit.MISSING
    LOGGER.warning("%s is %s already; nothing is done", info, info.state.name)
    return DetachedExit.DONE if info.state in _DONE else DetachedExit.DUPLICATE


class DetachedClaim(Generic[T]):
    """A task that was taken over, until it is decided, given back or lost."""

    def __init__(
        self,
        repository: TaskRepository[T],
        dispatcher: TaskDispatcher[T],
        topic: str,
        task: Task,
        lease: timedelta | None,
    ) -> None:
        self.repository = repository
        self.dispatcher = dispatcher
        self.topic = topic
        self.task = task
        self._lease = lease
        self.pause = _LOOK if lease is None else min(_LOOK, lease / 4)
        """How often to look: seldom enough for an input of any length, often enough for a short lease."""
        self.stopping = threading.Event()
        """Set when the work is to end early, for whatever reason."""

    def beat(self) -> None:
        """Say that the process lives; nobody waits for a task here."""
        with self.dispatcher() as tx:
            try:
                self.repository.heartbeat(tx)
            except UnknownOwnerError:
                self.repository.register(tx)

    def look(self) -> bool:
        """Tell whether the task is still the process's own, and extend its lease, for which it may have to wait."""
        with self.dispatcher() as tx:
            info = self._info(tx)
        if not self._is_own(info, TaskState.ACTIVE):
            return self._is_own(info, *_DECIDED)
        if self._lease is None:
            return True
        try:
            extend(self.repository, self.dispatcher, self.topic, [self.task], self._lease)
        except LostTaskError:
            return self.decided()
        return True

    def checkpoint(self, tx: T, text: str | None) -> None:
        """Replace the task's input."""
        self.repository.checkpoint(tx, self.topic, self.task, text)

    def complete(self, tx: T, decision: TaskDecision) -> None:
        """Decide the task."""
        self.repository.complete(tx, self.topic, self.task, decision)

    def release(self) -> None:
        """Give the task back, its attempt not counted."""
        with self.dispatcher() as tx:
            self.repository.release(tx, self.topic, [self.task])

    def decided(self) -> bool:
        """Tell whether the work has decided its task by itself."""
        with self.dispatcher() as tx:
            return self._is_own(self._info(tx), *_DECIDED)

    def insist(self, call: Callable[[T], object]) -> None:
        """
        Make a call in a transaction of its own, again and again as long as the database is away.

        Raises:
            LostTaskError: others hold the task.
            StopRequestedError: the database was away and the process is to stop.

        """
        failures = 0
        while True:
            try:
                with self.dispatcher() as tx:
                    call(tx)
            except LostTaskError:
                raise
            except Exception as error:
                if not refused(error):
                    raise
                failures += 1
                LOGGER.warning("the database is waited for: %r", error)
                if self.stopping.wait(backoff_delay(_FIRST_RETRY, failures, _LAST_RETRY).total_seconds()):
                    raise StopRequestedError from error
            else:
                return

    def _info(self, tx: T) -> TaskInfo | None:
        return self.repository.task(tx, self.topic, self.task.sequence)

    def _is_own(self, info: TaskInfo | None, *states: TaskState) -> bool:
        claim = (self.repository.owner, self.task.token)
        return info is not None and (info.owner, info.token) == claim and info.state in states
