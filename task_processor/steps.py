"""Steps of work, what they depend on, and what they decide."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

from task_api import InvalidTaskError, Task, TaskDecision

from .event_loop import EventLoopThread, decide
from .executors import submit
from .portable import portable
from .signature import wants_second
from .supplement import TaskSupplement

__all__ = ["Mode", "Step", "StepDecorator", "StepFunction"]

StepFunction: TypeAlias = Callable[..., Any]
"""``fn(task)`` or ``fn(task, supplement)``, for a batch ``fn(tasks)`` or ``fn(tasks, supplement)``."""

StepDecorator: TypeAlias = Callable[[str, str, StepFunction], StepFunction]
"""Gets topic, step and function, and returns a function of the same form."""


class Mode(Enum):
    """How a step works on the single tasks of a batch."""

    PARALLEL = "PARALLEL"
    """All at once, as far as the executor has room."""
    SEQUENTIAL = "SEQUENTIAL"
    """One after the other, in their order."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a function and the steps that come before it."""

    name: str
    """What other steps know it by."""
    function: StepFunction
    """What it does."""
    after: tuple[str, ...]
    """The steps that are done before this one begins."""
    mode: Mode | None
    """How single tasks are worked on; None for a function of the whole batch."""
    supplemented: bool
    """Whether the function takes the supplement."""

    @staticmethod
    def of(name: str, function: StepFunction, after: str | Iterable[str], mode: Mode | None) -> "Step":
        """Make a step, and find out what its function takes."""
        before = (after,) if isinstance(after, str) else tuple(after)
        return Step(name, function, before, mode, wants_second(function))

    def decorated(self, topic: str, decorators: Sequence[StepDecorator]) -> "Step":
        """Wrap the function; it is still called with what the original takes."""
        function = self.function
        for decorator in decorators:
            function = decorator(topic, self.name, function)
        return replace(self, function=function)

    @property
    def asynchronous(self) -> bool:
        """Whether the function runs on the event loop."""
        return inspect.iscoroutinefunction(self.function)

    def submit(
        self, tasks: Sequence[Task], supplement: TaskSupplement, executor: Executor, loop: EventLoopThread
    ) -> "Iterator[tuple[Future[Any], Sequence[Task]]]":
        """Begin the work, and give each call with its tasks."""
        more = (supplement,) if self.supplemented else ()
        if self.mode is Mode.PARALLEL:
            for task in tasks:
                yield self._call(executor, loop, task, *more), (task,)
        elif self.mode is Mode.SEQUENTIAL:
            yield submit(executor, _in_turn, self.function, tasks, more), tasks
        else:
            yield self._call(executor, loop, tasks, *more), tasks

    def decisions(self, tasks: Sequence[Task], call: "Future[Any]", batch: set[Task]) -> dict[Task, TaskDecision]:
        """Turn what a call gave or raised into decisions on its tasks."""
        error = _error(call)
        if error is not None:
            return dict.fromkeys(tasks, TaskDecision.of(error))
        outcome = call.result()
        if self.mode is Mode.PARALLEL:
            return {tasks[0]: _decision(outcome)}
        if self.mode is Mode.SEQUENTIAL:
            return {task: _decision(single) for task, single in zip(tasks, outcome, strict=True)}
        if not isinstance(outcome, Mapping):
            return dict.fromkeys(tasks, _decision(outcome))
        if foreign := [task for task in outcome if task not in batch]:
            message = f"step {self.name!r} decided tasks outside of the batch: {', '.join(map(str, foreign))}"
            raise InvalidTaskError(message)
        missing = TaskDecision.failure(f"the task was missing in the result set of step {self.name!r}")
        found = {task: outcome.get(task) for task in tasks}
        return {task: missing if single is None else _decision(single) for task, single in found.items()}

    def _call(self, executor: Executor, loop: EventLoopThread, *arguments: object) -> "Future[Any]":
        if self.asynchronous:
            return loop.submit(self.function(*arguments))
        return submit(executor, decide, self.function, *arguments)


def _in_turn(function: StepFunction, tasks: Sequence[Task], more: tuple[Any, ...]) -> list[Any]:
    """Work on tasks one after the other; an error is the outcome of its own task."""
    outcomes = []
    for task in tasks:
        try:
            outcomes.append(decide(function, task, *more))
        except BaseException as error:  # noqa: BLE001 - whatever work raises is its task's failure
            outcomes.append(portable(error))
    return outcomes


def _error(call: "Future[Any]") -> BaseException | None:
    try:
        return call.exception()
    except CancelledError:
        # What was cancelled was not done.
        return CancelledError("the call was cancelled")


def _decision(outcome: Any) -> TaskDecision:  # noqa: ANN401 - checked here
    try:
        return TaskDecision.of(outcome)
    except InvalidTaskError as error:
        return TaskDecision.failure(error)
