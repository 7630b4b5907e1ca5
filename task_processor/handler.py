"""What works on a batch of tasks, and how it says what became of them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Protocol, TypeAlias

from task_api import InvalidTaskError, Task, TaskDecision

from .retry import RetryPolicy

__all__ = [
    "Callback",
    "Completion",
    "HandedOverError",
    "OnFailure",
    "ShutdownError",
    "TaskHandler",
    "TaskHandlerFactory",
    "UnavailableError",
    "checked_handler",
    "lend",
    "lend_retry",
    "room",
]

Completion: TypeAlias = Callable[[Any], Mapping[Task, TaskDecision]]
"""Runs inside the transaction that decides the tasks; gives a decision for each of them."""

Callback: TypeAlias = Callable[[Completion], bool]
"""Decides a batch: runs the completion in a transaction and commits; tells whether that worked."""

OnFailure: TypeAlias = Callable[[BaseException], bool]
"""Fails a whole batch; tells whether that could be stored."""


class TaskHandler(Protocol):
    """
    Works on batches of one topic.

    It may have a method ``room()`` that tells how many tasks it can take at present; without room nothing is polled.
    """

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


class HandedOverError(Exception):
    """
    Raised by a handler when others hold tasks of its batch now, who will decide them.

    Those are left alone and not reported as lost. Of the rest of the batch, what has a decision gets it, and what has
    none is given back, its attempt not counted.
    """

    def __init__(self, tasks: Collection[Task], decisions: Mapping[Task, TaskDecision] | None = None) -> None:
        super().__init__(f"handed over: {', '.join(map(str, tasks))}")
        self.tasks = frozenset(tasks)
        """The tasks that others hold now."""
        self.decisions = dict(decisions or {})
        """What became of others."""


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


def lend_retry(retry: RetryPolicy | None, handler: TaskHandler) -> TaskHandler:
    """Tell a handler whose tasks are decided elsewhere what becomes of failures, if it wants to know."""
    use = getattr(handler, "use_retry", None)
    if retry is not None and use is not None:
        use(retry)
    return handler


def room(handler: TaskHandler, size: int) -> int:
    """Return how many tasks to poll at most: fewer if the handler has a method ``room`` that says so, or none."""
    ask = getattr(handler, "room", None)
    return size if ask is None else min(size, ask())
