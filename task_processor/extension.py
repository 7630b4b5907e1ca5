"""Moving the end of claims, although somebody may have their tasks locked."""

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeVar

from task_api import Task, TaskSource

from .dispatcher import TaskDispatcher

__all__ = ["SHARE", "extend"]

T = TypeVar("T")

SHARE: Final = 3
"""A lease is extended when so large a part of it is over."""


def extend(
    source: TaskSource[T], dispatcher: TaskDispatcher[T], topic: str, tasks: Sequence[Task], lease: timedelta
) -> float:
    """Extend leases in a transaction of their own, and return when they began."""
    with dispatcher() as tx:
        begun = _extend_in(tx, source, topic, tasks, lease)
        if time.monotonic() - begun > lease.total_seconds() / SHARE:
            # It waited for whoever had a task locked, and the lease counts from before that.
            begun = _extend_in(tx, source, topic, tasks, lease)
    return begun


def _extend_in(tx: T, source: TaskSource[T], topic: str, tasks: Sequence[Task], lease: timedelta) -> float:
    begun = time.monotonic()
    source.extend(tx, topic, tasks, lease)
    return begun
