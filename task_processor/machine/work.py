"""Calling the function of a state, plain or asynchronous, wherever it is to run."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeAlias

from task_api import InvalidTaskError, TaskDecision, TaskResultError

from ..deadline import checked_duration
from ..event_loop import decide
from ..executors import submit
from ..handler import UnavailableError
from ..portable import portable_outcome
from .task import HeldTask
from .transition import Transition

__all__ = ["StateFunction", "StateWork"]

StateFunction: TypeAlias = Callable[..., Any]
"""``fn(task, data)``, plain or ``async def``, giving a `Transition`."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """An error as a value: not every error can be raised into a future."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class StateWork:
    """What is done in a state."""

    state: str
    """The state."""
    function: StateFunction
    """The function."""
    lease: timedelta | None = None
    """How long the claim lasts at most, unless it is extended."""

    def __post_init__(self) -> None:
        if not callable(self.function):
            message = f"the work of state {self.state!r} must be a function fn(task, data), not {self.function!r}"
            raise InvalidTaskError(message)
        if not _takes_two(self.function):
            message = f"the work of state {self.state!r} must take (task, data): {self.function!r}"
            raise InvalidTaskError(message)
        if self.lease is not None:
            checked_duration("lease", self.lease)

    async def perform(
        self,
        task: HeldTask,
        data: Any,  # noqa: ANN401 - whatever is JSON
        own: Executor,
        lent: Executor | None,
    ) -> Transition | BaseException:
        """
        Do it, and return what it gave or raised.

        Asynchronous work runs here, and is cancelled when its task is lost; plain work runs on the executor that was
        lent, or on the handler's own.
        """
        if inspect.iscoroutinefunction(self.function):
            outcome = await _awaited(task, partial(self.function, task, data))
        elif lent is not None:
            try:
                future = submit(lent, _performed, self.function, task, data)
            except UnavailableError as error:
                return error
            outcome = await _settled(asyncio.wrap_future(future))
        else:
            # What runs there belongs to the poll loop as if it ran here.
            called = own.submit(copy_context().run, _called, self.function, task, data)
            outcome = await _settled(asyncio.wrap_future(called))
            if isinstance(outcome, Awaitable):
                outcome = await _awaited(task, partial(_itself, outcome))
        return outcome.error if isinstance(outcome, _Raised) else self._transition(outcome)

    def _transition(self, outcome: object) -> Transition | BaseException:
        if isinstance(outcome, Transition):
            return outcome
        if isinstance(outcome, TaskDecision):
            return Transition(decision=outcome)
        message = (
            f"the work of state {self.state!r} must give a Transition, not {type(outcome).__name__}; "
            "if all is done, Transition.finish()"
        )
        return InvalidTaskError(message)


async def _settled(future: "asyncio.Future[Any]") -> Any:  # noqa: ANN401 - whatever it gives
    """Wait for a future, and return what it gave, or its error as a value."""
    await asyncio.wait({future})
    if future.cancelled():
        return _Raised(TaskResultError("the work was cancelled"))
    error = future.exception()
    return future.result() if error is None else _Raised(error)


def _takes_two(function: StateFunction) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # some built-in functions do not say what they take
        return True
    return True


def _called(function: StateFunction, task: HeldTask, data: Any) -> Any:  # noqa: ANN401 - whatever it gives
    """Call a plain function, unless its task was lost while it waited for its turn."""
    try:
        return function(task, data) if task.held else None
    except BaseException as error:  # noqa: BLE001 - whatever work raises is its task's failure
        return _Raised(error)


def _performed(function: StateFunction, task: HeldTask, data: Any) -> Any:  # noqa: ANN401 - whatever it gives
    """Call a function to its end, perhaps in another process, which can't send everything back."""
    try:
        outcome = decide(function, task, data) if task.held else None
    except BaseException as error:  # noqa: BLE001 - whatever work raises is its task's failure
        return _Raised(error)
    if isinstance(outcome, Transition):
        return replace(outcome, decision=portable_outcome(outcome.decision))
    return outcome


async def _awaited(task: HeldTask, function: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - whatever it gives
    """Await something to its end, and cancel it when its task is lost."""
    loop = asyncio.get_running_loop()
    work = loop.create_task(_outcome(function))
    with task.hold.cancelling(partial(_cancel, loop, work)):
        return await _settled(work)


def _cancel(loop: asyncio.AbstractEventLoop, work: "asyncio.Task[Any]") -> None:
    with suppress(RuntimeError):  # the handler was closed meanwhile
        loop.call_soon_threadsafe(work.cancel)


async def _outcome(function: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - whatever it gives
    try:
        return await function()
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever work raises is its task's failure
        return _Raised(error)


async def _itself(awaitable: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever it gives
    return await awaitable
