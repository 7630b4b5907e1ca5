"""The handler of a state machine's tasks."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextvars import copy_context
from functools import partial
from typing import Generic, TypeVar

from task_api import Claim, LostTaskError, Task, TaskDecision

from ..event_loop import EventLoopThread
from ..handler import Callback, OnFailure, ShutdownError, UnavailableError
from ..listener import LOGGER
from ..threads import DaemonExecutor
from .run import Binding, End, Executors, MachineRun
from .watch import ClaimWatch, Watched

__all__ = ["MachineHandler"]

T = TypeVar("T")


class MachineHandler(Generic[T]):
    """
    Takes tasks through their states in the background, several at once, each in a batch of its own.

    Asynchronous functions run at once. Plain ones take turns, unless there is an executor.
    """

    def __init__(self, binding: Binding[T]) -> None:
        topic = binding.topic
        self._binding = binding
        self._lent: Executor | None = None
        self._loop = EventLoopThread(f"task-machine-{topic}")
        self._plain = DaemonExecutor(f"task-state-{topic}", 1)
        self._storing = DaemonExecutor(f"task-transition-{topic}")
        self._watch = ClaimWatch(topic, binding.repository, binding.dispatcher, binding.pace, binding.concurrency)
        self._changed = threading.Condition()
        self._unfinished = 0

    def room(self) -> int:
        """One: what becomes of a task does not have to wait for others."""
        return 1

    def use_executor(self, executor: Executor) -> None:
        """Run plain functions there from now on."""
        self._lent = executor

    def close(self) -> None:
        """Finish what is under way, and let go of the threads."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unfinished)
        self._watch.close()
        self._loop.close()
        self._plain.shutdown(wait=False)
        self._storing.shutdown(wait=False)

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:
        """Begin to take each task as far as it goes; wait until there is room for more."""
        if any(task.claim is not Claim.COMMITTED for task in tasks):
            message = f"topic {self._binding.topic!r}: a state machine stores each state, so it needs Claim.COMMITTED"
            raise UnavailableError(message)
        watched = [Watched(task) for task in tasks]
        with self._changed:
            self._unfinished += len(watched)
        try:
            self._watch.begin(watched)
            future = self._loop.submit(self._run(watched))
        except BaseException:
            self._forget(watched)
            raise
        context = copy_context()

        def decide(ended: "Future[list[End | None]]") -> None:
            self._storing.submit(context.run, self._decide, watched, callback, on_failure, ended)

        future.add_done_callback(decide)
        with self._changed:
            self._changed.wait_for(lambda: self._unfinished < self._binding.concurrency)

    async def _run(self, watched: Sequence[Watched]) -> list[End | None]:
        executors = Executors(self._plain, self._storing, self._lent)
        return await asyncio.gather(*(MachineRun(self._binding, each, executors).run() for each in watched))

    def _decide(
        self, watched: Sequence[Watched], callback: Callback, on_failure: OnFailure, ended: "Future[list[End | None]]"
    ) -> None:
        try:
            callback(partial(self._complete, self._held(watched, ended.result())))
        except CancelledError:
            on_failure(ShutdownError("the handler was closed"))
        except BaseException as error:  # noqa: BLE001 - the batch fails with it
            on_failure(error)
        finally:
            self._forget(watched)

    def _held(self, watched: Sequence[Watched], ends: Sequence[End | None]) -> dict[Task, End | None]:
        """What became of each task; None of those that were lost."""
        held: dict[Task, End | None] = {}
        for each, end in zip(watched, ends, strict=True):
            held[each.task] = None if each.lost else end
            if held[each.task] is None:
                LOGGER.warning(
                    "topic %r: task %s was taken over while it was worked on; what came of that is dropped",
                    self._binding.topic,
                    each.task,
                )
        return held

    def _complete(self, ends: Mapping[Task, End | None], tx: T) -> dict[Task, TaskDecision]:
        if lost := [task for task, end in ends.items() if end is None]:
            raise LostTaskError(self._binding.topic, lost)
        found = {task: end for task, end in ends.items() if end is not None}
        for task, end in found.items():
            self._binding.store(tx, task, end.state)
        return {task: end.decision for task, end in found.items()}

    def _forget(self, watched: Sequence[Watched]) -> None:
        self._watch.end(watched)
        with self._changed:
            self._unfinished -= len(watched)
            self._changed.notify_all()
