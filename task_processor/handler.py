"""What works on a batch of tasks, and how it says what became of them."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Protocol, TypeAlias

from task_api import InvalidTaskError, Task, TaskDecision

__all__ = [
    "Callback",
    "Completion",
    "OnFailure",
    "ShutdownError",
    "TaskHandler",
    "TaskHandlerFactory",
    "UnavailableError",
    "checked_handler",
    "lend",
]

Completion: TypeAlias = Callable[[Any], Mapping[Task, TaskDecision]]
"""Runs inside the transaction that decides the tasks; gives a decision for each of them."""

Callback: TypeAlias = Callable[[Completion], bool]
"""Decides a batch: runs the completion in a transaction and commits; tells whether that worked."""

OnFailure: TypeAlias = Callable[[BaseException], bool]
"""Fails a whole batch; tells whether that could be stored."""


class TaskHandler(Protocol):
    """Works on batches of one topic."""

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:
        """
        Take a batch, and sooner or later call one of the two functions once, from any thread.

        The next batch is polled as soon as this returns, so a handler that works in the background blocks here
        once it has enough to do. Raising is the same as calling ``on_failure``. Of several outcomes the first
        counts; the others are ignored and logged. An `UnavailableError` fails nothing: the batch is given back.
        """
        ...

    def close(self) -> None:
        """Finish or give up what is still going on, and let go of threads and the like."""


TaskHandlerFactory: TypeAlias = Callable[[str], TaskHandler]
"""Makes the handler of a topic, once for each start."""


class ShutdownError(Exception):
    """The batch was given up because its handler was closed."""


class UnavailableError(Exception):
    """
    Raised by a handler that can't begin at present, because something that it needs is not there.

    The batch is given back, its attempt not counted, and the next poll waits for a while.
    """


def checked_handler(handler: Any) -> TaskHandler:  # noqa: ANN401 - checked here
    """Return what a factory made, if it is a handler."""
    if callable(handler) and callable(getattr(handler, "close", None)):
        return handler  # type: ignore[no-any-return]
    message = (
        f"a handler factory gives a handler, with a method close, not {type(handler).__name__}; see each and batch"
    )
    raise InvalidTaskError(message)


def lend(executor: Executor | None, handler: TaskHandler) -> TaskHandler:
    """Offer an executor to a handler, which uses it if it can and has none of its own."""
    use = getattr(handler, "use_executor", None)
    if executor is not None and use is not None:
        use(executor)
    return handler
