"""Where transactions come from."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias, TypeVar

from task_api import InvalidTaskError

__all__ = ["TaskDispatcher", "checked_dispatcher"]

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
