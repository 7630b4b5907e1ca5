"""Where transactions come from."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias, TypeVar

from task_api import InvalidTaskError

__all__ = ["TaskDispatcher", "checked_dispatcher", "swallowed", "transaction"]

T = TypeVar("T")

TaskDispatcher: TypeAlias = Callable[[], AbstractContextManager[T]]
"""Begins a transaction: committed when its block ends, rolled back when it raises. ``engine.begin`` is one."""


def checked_dispatcher(dispatcher: TaskDispatcher[T], name: str = "dispatcher") -> TaskDispatcher[T]:
    """Return what was given as a dispatcher, if it can be called."""
    if callable(dispatcher):
        return dispatcher
    kind = type(dispatcher).__name__
    hint = f"pass its method, {kind.lower()}.begin" if hasattr(dispatcher, "begin") else "as engine.begin does"
    message = f"{name} must begin a transaction each time that it is called, which this {kind} can't; {hint}"
    raise InvalidTaskError(message)


def swallowed() -> Exception:
    """Say that a block was left early, although nothing was raised out of it."""
    return RuntimeError("the dispatcher keeps to itself what is raised in its transactions")


@contextmanager
def transaction(dispatcher: TaskDispatcher[T]) -> Iterator[T]:
    """Begin a transaction, out of which is raised what is raised in it, whatever the dispatcher makes of that."""
    whole = False
    with dispatcher() as tx:
        yield tx
        whole = True
    if not whole:
        raise swallowed()
