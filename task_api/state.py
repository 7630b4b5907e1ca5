"""The states of a task and the results of its work, with their stored ordinals."""

from enum import IntEnum
from typing import Final

__all__ = ["FINISHED", "REVIVABLE", "TaskResult", "TaskState"]


class TaskState(IntEnum):
    """
    Where a task stands; the value is what the database stores.

    The order is part of the design: the groups of states that an operation applies to are ranges.
    """

    ACTIVE = 0
    """Claimed by an owner that works on it."""
    READY = 1
    """Waiting to be polled."""
    EXPIRED = 2
    """Its owner stopped beating, or its lease ended, before it was decided."""
    FAILED = 3
    """Decided: the work failed."""
    SUSPENDED = 4
    """Set aside until it is due, released by a junction, or revived."""
    FILTERED = 5
    """Decided: there was nothing to do."""
    SUCCEEDED = 6
    """Decided: the work is done."""
    RECREATED = 7
    """Replaced by a new task that names this one as its origin. Terminal."""
    REDUNDANT = 8
    """Made obsolete by a later push of the same identifier. Terminal."""


class TaskResult(IntEnum):
    """What the work on a task came to; the lower value is the worse one and wins when results are merged."""

    FAILURE = 0
    SUSPENSION = 1
    FILTER = 2
    SUCCESS = 3

    @property
    def state(self) -> TaskState:
        """The state that a task gets by this result."""
        return _STATES[self]

    def merge(self, other: "TaskResult") -> "TaskResult":
        """Return the worse of the two results."""
        return min(self, other)


_STATES: Final = (TaskState.FAILED, TaskState.SUSPENDED, TaskState.FILTERED, TaskState.SUCCEEDED)

FINISHED: Final = frozenset(
    {TaskState.FAILED, TaskState.FILTERED, TaskState.SUCCEEDED, TaskState.RECREATED, TaskState.REDUNDANT}
)
"""The states that a purge deletes unless told otherwise: nothing in them waits for anybody."""

REVIVABLE: Final = frozenset(
    {TaskState.EXPIRED, TaskState.FAILED, TaskState.SUSPENDED, TaskState.FILTERED, TaskState.SUCCEEDED}
)
"""The states from which a task can be reset, recreated or reassigned."""
