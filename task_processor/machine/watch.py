"""Making sure that the tasks of a state machine are still held while they are worked on."""

import math
import threading
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, Generic, TypeVar

from task_api import LostTaskError, Task, TaskRepository, TaskState

from ..dispatcher import TaskDispatcher
from ..extension import SHARE, extend
from ..repeater import Job, Repeater
from ..threads import DaemonExecutor
from .task import HeldTask

__all__ = ["ClaimWatch", "Watched"]

T = TypeVar("T")

_PATIENCE: Final = timedelta(seconds=1)


class Watched:
    """A task that is worked on, and the lease that it is worked on under."""

    def __init__(self, task: Task) -> None:
        self.task = HeldTask.of(task)
        self.lease: timedelta | None = None
        self.extending = False
        """Whether its lease is being extended."""
        self._extended = -math.inf

    @property
    def lost(self) -> bool:
        """Whether somebody else has the task now."""
        return self.task.hold.lost

    @property
    def due(self) -> bool:
        """Whether it is time to extend its lease."""
        return self.lease is not None and time.monotonic() >= self._extended + self.lease.total_seconds() / SHARE

    def extended(self, moment: float | None = None) -> None:
        """Say that its lease began now, or at a moment before."""
        self._extended = time.monotonic() if moment is None else moment


class ClaimWatch(Generic[T]):
    """
    Extends leases, and finds out which tasks were taken over, from threads of its own.

    Each lease is extended by itself, so that a task that somebody has locked costs the others nothing. It can't expire
    as long as it is locked.

    Args:
        topic: The topic of all tasks.
        repository: Where they are.
        dispatcher: Where transactions come from.
        interval: How often to look.
        number: How many tasks there are at most.

    """

    def __init__(
        self,
        topic: str,
        repository: TaskRepository[T],
        dispatcher: TaskDispatcher[T],
        interval: timedelta,
        number: int,
    ) -> None:
        self._topic = topic
        self._repository = repository
        self._dispatcher = dispatcher
        self._lock = threading.Lock()
        self._watched: set[Watched] = set()
        job = Job(f"watching the tasks of topic {topic!r}", interval, self._look, first=interval)
        self._repeater = Repeater(f"task-watch-{topic}", [job])
        # A thread for each, as any of them may have to wait.
        self._extending = DaemonExecutor(f"task-extension-{topic}", number)
        self._problem: BaseException | None = None
        self._started = False

    def begin(self, tasks: Iterable[Watched]) -> None:
        """Watch these too."""
        with self._lock:
            self._watched.update(tasks)
            if not self._started:
                self._repeater.start()
                self._started = True

    def end(self, tasks: Iterable[Watched]) -> None:
        """Watch these no longer."""
        with self._lock:
            self._watched.difference_update(tasks)

    def close(self) -> None:
        """Stop; not waited for much longer, as it may wait for the database."""
        self._repeater.stop(_PATIENCE)
        self._extending.shutdown(wait=False)

    def _look(self) -> None:
        with self._lock:
            watched = list(self._watched)
        due = [each for each in watched if each.due]
        for each in due:
            if not each.extending:
                each.extending = True
                try:
                    self._extending.submit(self._try_to_extend, each)
                except BaseException:
                    each.extending = False
                    raise
        self._check([each for each in watched if each not in due])
        if (problem := self._problem) is not None:
            self._problem = None
            raise problem

    def _try_to_extend(self, watched: Watched) -> None:
        try:
            self._extend(watched)
        except LostTaskError:
            self._lose([watched])
        except BaseException as error:  # noqa: BLE001 - reported by the next look, which tries again
            self._problem = error
        finally:
            watched.extending = False

    def _extend(self, watched: Watched) -> None:
        lease: timedelta | None = None
        # Again if the next state has begun meanwhile, whose lease must not be replaced by that of the one before.
        while watched.lease is not None and watched.lease != lease:
            lease = watched.lease
            watched.extended(extend(self._repository, self._dispatcher, self._topic, [watched.task], lease))

    def _check(self, watched: Sequence[Watched]) -> None:
        if watched:
            with self._dispatcher() as tx:
                lost = [each for each in watched if not self._held(tx, each.task)]
            self._lose(lost)

    def _held(self, tx: T, task: Task) -> bool:
        found = self._repository.task(tx, self._topic, task.sequence)
        return found is not None and found.state is TaskState.ACTIVE and found.token == task.token

    def _lose(self, watched: Sequence[Watched]) -> None:
        # One that its own worker has decided meanwhile is among them, and nobody asks about it any more.
        self.end(watched)
        for each in watched:
            each.task.hold.lose()
