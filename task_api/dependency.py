"""Tasks that wait for others."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, TypeAlias, TypeVar

from .graph import TaskGraph
from .ref import TaskRef
from .task import Task, TaskCreation, TaskInfo

__all__ = ["Dependency", "NamedTask", "TaskDependencies"]

T = TypeVar("T", contravariant=True)

NamedTask: TypeAlias = TaskRef | TaskInfo
"""A task that is known by its topic and number."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """One task waits for another."""

    run: NamedTask
    """The task that waits."""
    after: NamedTask
    """The task that it waits for."""


class TaskDependencies(Protocol[T]):
    """
    Lets tasks wait for others.

    A task that waits is SUSPENDED until all that it waits for SUCCEEDED or were FILTERED. The decision of the last of
    them, in whichever transaction, makes it READY; `OnAbort` says what happens when one fails.
    """

    def depend(self, tx: T, dependencies: Iterable[Dependency]) -> None:
        """
        Let tasks that are READY or SUSPENDED wait for others, all of them or none.

        One that is finished or gone is not waited for any more; one that failed counts as `OnAbort` says.

        Raises:
            TaskStateError: a task that is to wait is missing, held or decided, or another was recreated.
            DependencyCycleError: tasks would wait for each other.

        """
        ...

    def predecessors(self, tx: T, ref: NamedTask) -> list[TaskRef]:
        """Return the tasks that this one waits for or waited for, by topic and number."""
        ...

    def dependents(self, tx: T, ref: NamedTask) -> list[TaskRef]:
        """Return the tasks that wait or waited for this one, by topic and number."""
        ...

    def push_graph(self, tx: T, topic: str, graph: TaskGraph | TaskCreation | str) -> list[Task]:
        """Push a graph made by `chain`, `group` and `chord`; return its tasks in the order given."""
        ...

    def wait(
        self,
        dispatcher: Callable[[], AbstractContextManager[Any]],
        ref: NamedTask,
        timeout: timedelta | None = None,
    ) -> TaskInfo:
        """
        Return the task as soon as it is decided, at once if it is.

        It is decided when it FAILED, SUCCEEDED, was FILTERED, or is REDUNDANT; one that was recreated is waited for
        in its copy.

        Args:
            dispatcher: Opens a transaction; several short ones are used.
            ref: The task.
            timeout: How long to wait at most, or for ever.

        Raises:
            TimeoutError: the task is not decided yet.
            TaskStateError: the task is missing, or was deleted meanwhile.

        """
        ...
