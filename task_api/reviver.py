"""Bringing finished tasks back."""

from collections.abc import Iterable
from enum import Enum
from typing import Protocol, TypeVar

from .state import TaskState
from .task import INCEPTION, MAX_SEQUENCE, Task

__all__ = ["Revivification", "TaskReviver"]

T = TypeVar("T", contravariant=True)


class Revivification(Enum):
    """How a task is brought back."""

    APPEND = "APPEND"
    """It becomes RECREATED and a copy is pushed with `Insertion.APPEND`."""
    REPLACE = "REPLACE"
    """It becomes RECREATED and a copy is pushed with `Insertion.REPLACE`, newer successes included."""
    SUPERSEDE = "SUPERSEDE"
    """It becomes RECREATED and a copy is pushed with `Insertion.SUPERSEDE`."""
    RESET = "RESET"
    """It becomes READY again at its old place; completion, output and lease are cleared."""


class TaskReviver(Protocol[T]):
    """Brings EXPIRED, FAILED, SUSPENDED, FILTERED and SUCCEEDED tasks back."""

    def recreate(self, tx: T, topic: str, revivification: Revivification, tasks: Iterable[Task]) -> dict[Task, Task]:
        """
        Revive the named tasks, all of them or none; map each to the task that stands for it now.

        Input and reference are those stored. A recreated task starts at attempt 0 and knows its origin.

        Raises:
            TaskStateError: some are missing or in no state to be revived; nothing is changed.

        """
        ...

    def recreate_state(
        self,
        tx: T,
        topic: str,
        revivification: Revivification,
        state: TaskState,
        *,
        size: int = 1,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> dict[Task, Task]:
        """Revive up to ``size`` tasks in exactly that state, lowest sequence first, skipping locked ones."""
        ...
