"""
The steps of one batch, each begun as soon as those before it are done.

One thread follows the batch and does none of its work: all calls are on the executor or the event loop, and none of
them waits for another. So a small executor cannot block itself, and one in other processes serves as well.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any

from task_api import Task, TaskDecision

from .event_loop import EventLoopThread
from .handler import ShutdownError, UnavailableError
from .steps import Step
from .supplement import TaskSupplement

__all__ = ["Chain"]


class Chain:
    """One batch on its way through the steps."""

    def __init__(
        self,
        steps: Sequence[Step],
        tasks: Sequence[Task],
        supplement: TaskSupplement,
        executor: Executor,
        loop: EventLoopThread,
    ) -> None:
        self._steps = steps
        self._tasks = tasks
        self._supplement = supplement
        self._executor = executor
        self._loop = loop
        # Calls that have ended; None asks to begin no more.
        self._inbox: SimpleQueue[Future[Any] | None] = SimpleQueue()
        self._calls: dict[Future[Any], tuple[Step, Sequence[Task]]] = {}
        self._left: dict[str, int] = {}
        self._waiting = list(steps)
        self._decided: dict[str, dict[Task, TaskDecision]] = {}
        self._begun = False
        self._cancelled = False
        self._stopped: BaseException | None = None
        ancestors: dict[str, set[str]] = {}
        for step in steps:
            ancestors[step.name] = set(step.after).union(*(ancestors[name] for name in step.after))
        self._ancestors = ancestors

    def cancel(self) -> None:
        """Begin no more calls; the batch fails as soon as those that run have ended."""
        self._cancelled = True
        self._inbox.put(None)

    def run(self) -> dict[Task, TaskDecision]:
        """Go through all steps and return the merged decisions."""
        self._begin_ready()
        while self._calls:
            call = self._inbox.get()
            if call is None:
                self._stop(_shutdown())
            else:
                self._end(call)
                self._begin_ready()
        if self._stopped is not None:
            raise self._stopped
        return self._merged({step.name for step in self._steps})

    def _begin_ready(self) -> None:
        if self._cancelled and self._waiting:
            self._stop(_shutdown())
        progress = True
        while progress and self._stopped is None:
            done = {step.name for step in self._steps if step.name in self._decided and not self._left.get(step.name)}
            ready = [step for step in self._waiting if done.issuperset(step.after)]
            self._waiting = [step for step in self._waiting if step not in ready]
            try:
                # A step without tasks is done at once, and others may follow it.
                progress = any([not self._begin(step) for step in ready])  # noqa: C419 - all of them begin
            except UnavailableError as error:
                # Once something was done, the batch must not be taken for one that never began.
                self._stop(error if not self._begun or error.__cause__ is None else error.__cause__)
            except BaseException as error:  # noqa: BLE001 - the batch fails with it
                self._stop(error)

    def _begin(self, step: Step) -> bool:
        decisions = self._merged(self._ancestors[step.name])
        active = tuple(task for task in self._tasks if decisions[task].continued)
        self._decided[step.name] = {}
        if not active:
            return False
        self._left[step.name] = 0
        for call, tasks in step.submit(active, self._supplement, self._executor, self._loop):
            self._begun = True
            self._calls[call] = step, tasks
            self._left[step.name] += 1
            call.add_done_callback(self._inbox.put)
        return True

    def _end(self, call: "Future[Any]") -> None:
        step, tasks = self._calls.pop(call)
        self._left[step.name] -= 1
        if call.cancelled() and self._stopped is not None:
            return
        try:
            self._decided[step.name].update(step.decisions(tasks, call, set(self._tasks)))
        except Exception as error:  # noqa: BLE001 - the batch fails with it
            self._stop(error)

    def _stop(self, error: BaseException) -> None:
        self._stopped = self._stopped or error
        for call, (step, _) in list(self._calls.items()):
            # A call that has begun is finished; a coroutine would be interrupted.
            if not step.asynchronous:
                call.cancel()

    def _merged(self, names: set[str]) -> dict[Task, TaskDecision]:
        """Merge what these steps decided themselves, so that nothing counts twice however steps are connected."""
        found = dict.fromkeys(self._tasks, TaskDecision.SUCCESS)
        for step in self._steps:
            if step.name in names:
                for task, decision in self._decided[step.name].items():
                    found[task] = found[task].merge(decision)
        return found


def _shutdown() -> ShutdownError:
    return ShutdownError("the handler was closed before all steps of the batch were done")
