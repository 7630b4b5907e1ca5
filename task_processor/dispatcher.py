"""Where transactions come from."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias, TypeVar

__all__ = ["TaskDispatcher"]

T = TypeVar("T")

TaskDispatcher: TypeAlias = Callable[[], AbstractContextManager[T]]
"""Begins a transaction: committed when its block ends, rolled back when it raises. ``engine.begin`` is one."""
