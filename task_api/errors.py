"""
Every error that topiq raises on purpose.

::

    TaskError
    ├── InvalidTaskError      a wrong argument; raised before any statement runs (also a ValueError)
    ├── UnknownTopicError     .topic is not initialized
    ├── UnknownOwnerError     .owner is not registered
    ├── LostTaskError         .tasks are not held by this owner with this token
    ├── TaskStateError        .tasks are in no state that allows the call
    ├── DependencyCycleError  .tasks would wait for each other
    ├── SchemaError           no schema, or one of another version
    └── AccessError           the database user may not do this
    TaskResultError           raised by work to choose a result; not an error of the library
"""

from typing import TYPE_CHECKING, overload

from .state import TaskResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .ref import TaskRef
    from .task import Task

__all__ = [
    "AccessError",
    "DependencyCycleError",
    "InvalidTaskError",
    "LostTaskError",
    "SchemaError",
    "TaskError",
    "TaskResultError",
    "TaskStateError",
    "UnknownOwnerError",
    "UnknownTopicError",
]

_SHOWN = 5


class TaskError(Exception):
    """The base of every error that the library raises on purpose."""


class InvalidTaskError(TaskError, ValueError):
    """An argument is wrong. Nothing was sent to the database."""


class UnknownTopicError(TaskError):
    """The topic was never initialized, or it was destroyed."""

    topic: str
    """The topic's name."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        super().__init__(topic)

    def __str__(self) -> str:
        return f"topic {self.topic!r} is not initialized; call repository.initialize(tx, {self.topic!r}) first"


class UnknownOwnerError(TaskError):
    """The repository's owner is not registered, so it may not claim tasks."""

    owner: str
    """The owner's name."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        super().__init__(owner)

    def __str__(self) -> str:
        return f"owner {self.owner!r} is not registered; call repository.register(tx) first"


class _TasksError(TaskError):
    """An error about some of the tasks of a call."""

    topic: str
    """The topic of the call; empty if it is not known."""
    tasks: "frozenset[Task]"
    """Exactly the tasks that the call could not be carried out for."""
    _reason = ""

    @overload
    def __init__(self, topic: str, tasks: "Iterable[Task]") -> None: ...

    @overload
    def __init__(self, tasks: "Iterable[Task]", /) -> None: ...

    def __init__(self, topic: "str | Iterable[Task]", tasks: "Iterable[Task]" = ()) -> None:
        self.topic, found = (topic, tasks) if isinstance(topic, str) else ("", topic)
        self.tasks = frozenset(found)
        super().__init__(self.topic, self.tasks)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"  # the tasks would show their inputs

    def __str__(self) -> str:
        shown = ", ".join(f"{task.identifier!r} ({task.sequence})" for task in sorted(self.tasks)[:_SHOWN])
        more = f" and {len(self.tasks) - _SHOWN} more" if len(self.tasks) > _SHOWN else ""
        topic = f"topic {self.topic!r}: " if self.topic else ""
        return f"{topic}{self._reason}: {shown}{more}; nothing was changed"


class LostTaskError(_TasksError):
    """Some tasks are not held: never polled, expired, ejected, decided already, deleted or of another topic."""

    _reason = "not held by this owner with this token, roll back and leave them to their present holder"


class TaskStateError(_TasksError):
    """Some tasks are missing or in no state that allows the call."""

    _reason = "missing in the topic or in no state that allows this call"


class DependencyCycleError(TaskError):
    """Tasks would wait for each other for ever."""

    tasks: "tuple[TaskRef, ...]"
    """The tasks, each of which would wait for the next, and the last for the first."""

    def __init__(self, tasks: "Iterable[TaskRef]") -> None:
        self.tasks = tuple(tasks)
        super().__init__(self.tasks)

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.tasks[:_SHOWN]))
        more = f" and {len(self.tasks) - _SHOWN} more" if len(self.tasks) > _SHOWN else ""
        return f"these tasks would wait for each other for ever: {shown}{more}; nothing was changed"


class SchemaError(TaskError):
    """The database holds no schema, or one that this version of the code does not speak."""


class AccessError(TaskError):
    """The database refuses a call to the user who is connected; the transaction is to be rolled back."""


class TaskResultError(Exception):
    """
    Raised by work to choose its task's result.

    A message or a cause alone means failure. The cause (``raise TaskResultError(...) from error``) is what
    gets stored when there is one.
    """

    result: TaskResult
    """The result that the task gets."""
    message: str | None
    """What is stored as the task's output, unless there is a cause."""
    continued: bool
    """Whether later steps still see the task."""

    def __init__(
        self,
        result: TaskResult | str | BaseException = TaskResult.FAILURE,
        message: str | BaseException | None = None,
        *,
        continued: bool | None = None,
    ) -> None:
        problem = message if isinstance(result, TaskResult) else result
        self.result = result if isinstance(result, TaskResult) else TaskResult.FAILURE
        self.message = problem if isinstance(problem, str) else None
        self.continued = self.result is TaskResult.SUCCESS if continued is None else continued
        super().__init__(self.result, self.message)
        if isinstance(problem, BaseException):
            self.__cause__ = problem

    def __str__(self) -> str:
        return self.message or self.result.name

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.result, self.message, self.continued, self.__cause__)


def _restore(cls: type[TaskResultError], result: TaskResult, message: str | None, *more: object) -> TaskResultError:
    """Bring an error back from another process, its cause included, which pickling drops."""
    continued, cause = more
    error = cls(result, message, continued=bool(continued))
    error.__cause__ = cause if isinstance(cause, BaseException) else None
    return error
