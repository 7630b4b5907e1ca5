"""Plain functions as handlers."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import Any, TypeAlias

from task_api import InvalidTaskError, Task, TaskDecision, TaskResultError

from .event_loop import EventLoopThread, decide, perform
from .executors import submit
from .handler import Callback, Completion, OnFailure, TaskHandlerFactory
from .outcome import Decided
from .savepoint import EndedError, savepoint
from .signature import wants_second

__all__ = ["BatchFunction", "EachFunction", "FunctionHandler", "batch", "decisions_of", "each"]

EachFunction: TypeAlias = Callable[..., Any]
"""``fn(task)`` or ``fn(task, tx)``, plain or ``async def``, giving a decision, a text, a result or nothing."""

BatchFunction: TypeAlias = Callable[..., Any]
"""``fn(tasks)`` or ``fn(tasks, tx)``, plain or ``async def``, giving a mapping from task to decision, or nothing."""


def each(fn: EachFunction) -> TaskHandlerFactory:
    """
    Make a handler of a function that works on one task.

    ``fn(task)`` works before the transaction that decides the batch begins. ``fn(task, tx)`` works inside of it,
    so that its effects and the decision commit together, on the thread that has the transaction. What it returns
    decides the task: nothing means success. A task that raises fails alone, its effects undone. Asynchronous
    functions of the first form run for all tasks of a batch at once, on one event loop that lives as long as the
    handler.
    """
    return lambda topic: _EachHandler(topic, fn)


def batch(fn: BatchFunction) -> TaskHandlerFactory:
    """
    Make a handler of a function that works on a whole batch.

    ``fn(tasks)`` works before the transaction that decides the batch begins, ``fn(tasks, tx)`` inside of it. It
    returns a decision for each task, one for all, or nothing if all succeeded. When it raises, the whole batch fails.
    """
    return lambda topic: _BatchHandler(topic, fn)


class FunctionHandler(ABC):
    """Calls one function, on an executor if it is given one."""

    def __init__(self, topic: str, function: Callable[..., Any]) -> None:
        self._function = function
        self._executor: Executor | None = None
        self._in_transaction = wants_second(function)
        self._loop = EventLoopThread(f"task-event-loop-{topic}")

    @property
    def immediate(self) -> bool:
        """Whether all of its work is done by the completion, so that to prepare takes no time."""
        return self._in_transaction

    @abstractmethod
    def prepare(self, tasks: Sequence[Task]) -> Completion:
        """Do what precedes the transaction, and return the completion; raises what fails the whole batch."""

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:
        """Work on a batch."""
        try:
            completion = self.prepare(tasks)
        except BaseException as error:  # noqa: BLE001 - whatever work raises is its batch's failure
            on_failure(error)
            return
        callback(completion)

    def use_executor(self, executor: Executor) -> None:
        """Run the function there from now on, not where the handler is called."""
        self._executor = self._executor or executor

    def close(self) -> None:
        """End the event loop, if there is one."""
        self._loop.close()


class _EachHandler(FunctionHandler):
    def prepare(self, tasks: Sequence[Task]) -> Completion:
        if self._in_transaction:
            return lambda tx: {task: self._decide_within(task, tx) for task in tasks}
        given = self._submitted(tasks, self._executor) if self._executor else self._called(tasks)
        # Most tasks give nothing, which is success: all at once, and then those that differ.
        decisions = dict.fromkeys(tasks, TaskDecision.SUCCESS)
        decisions.update((task, _decision(outcome)) for task, outcome in given.items())
        return Decided(decisions)

    def _decide_within(self, task: Task, tx: Any) -> TaskDecision:  # noqa: ANN401 - the dispatcher's
        try:
            with savepoint(tx):
                # On this thread: many a connection may be used by one alone.
                return TaskDecision.of(perform(self._function, task, tx))
        except EndedError:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever work raises is its task's failure
            return TaskDecision.of(error)

    def _called(self, tasks: Sequence[Task]) -> dict[Task, Any]:
        """What tasks gave, if anything."""
        function, given = self._function, dict[Task, Any]()
        for task in tasks:
            try:
                outcome = function(task)
            except BaseException as error:  # noqa: BLE001 - whatever work raises is its task's failure
                outcome = error
            if outcome is not None:
                given[task] = outcome
        if waiting := [task for task, outcome in given.items() if isinstance(outcome, Awaitable)]:
            given.update(zip(waiting, self._loop.gather([given[task] for task in waiting]), strict=True))
        return given

    def _submitted(self, tasks: Sequence[Task], executor: Executor) -> dict[Task, Any]:
        # If not even the first can be submitted, none of the work was begun.
        futures = [submit(executor, decide, self._function, tasks[0])]
        outcomes = [_outcome(submit, executor, decide, self._function, task) for task in tasks[1:]]
        results = [_outcome(item.result) if isinstance(item, Future) else item for item in [*futures, *outcomes]]
        return {task: result for task, result in zip(tasks, results, strict=True) if result is not None}


class _BatchHandler(FunctionHandler):
    def prepare(self, tasks: Sequence[Task]) -> Completion:
        if self._in_transaction:
            return lambda tx: self._decide_within(tasks, tx)
        try:
            return Decided(decisions_of(tasks, self._called(tasks)))
        except TaskResultError as error:
            return Decided(dict.fromkeys(tasks, TaskDecision.of(error)))

    def _decide_within(self, tasks: Sequence[Task], tx: Any) -> Mapping[Task, TaskDecision]:  # noqa: ANN401
        try:
            with savepoint(tx):
                return decisions_of(tasks, perform(self._function, tasks, tx))
        except TaskResultError as error:
            return dict.fromkeys(tasks, TaskDecision.of(error))

    def _called(self, tasks: Sequence[Task]) -> Any:  # noqa: ANN401 - checked by the caller
        if self._executor:
            return submit(self._executor, decide, self._function, tasks).result()
        outcome = self._function(tasks)
        return self._loop.run(outcome) if isinstance(outcome, Awaitable) else outcome


def _outcome(function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - whatever it gives
    """What a call gave, or the error that it raised."""
    try:
        return function(*arguments)
    except BaseException as error:  # noqa: BLE001 - whatever work raises is its task's failure
        return error


def _decision(outcome: Any) -> TaskDecision:  # noqa: ANN401 - checked here
    try:
        return TaskDecision.of(outcome)
    except InvalidTaskError as error:
        return TaskDecision.failure(error)


def decisions_of(tasks: Sequence[Task], outcome: Any) -> dict[Task, TaskDecision]:  # noqa: ANN401 - checked here
    """Turn what work on a batch gave into decisions."""
    if outcome is None:
        return dict.fromkeys(tasks, TaskDecision.SUCCESS)
    if isinstance(outcome, TaskDecision):
        return dict.fromkeys(tasks, outcome)
    if not isinstance(outcome, Mapping):
        message = f"work on a batch gives a mapping from task to decision, or nothing, not {type(outcome).__name__}"
        raise InvalidTaskError(message)
    # A task mapped to nothing was forgotten, which is told apart from one that succeeded.
    return {task: TaskDecision.of(decision) for task, decision in outcome.items() if decision is not None}
