"""A repository that tells what is called, so that a failing history reads as a script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from hypothesis import note

from task_api import Task, TaskCreation, TaskDecision

if TYPE_CHECKING:
    from task_api import TaskRepository


class Narrator:
    """Passes every call on and notes it, with what came of it."""

    def __init__(self, repository: TaskRepository[Any]) -> None:
        self._repository = repository

    @classmethod
    def tells(cls, repository: TaskRepository[Any]) -> TaskRepository[Any]:
        """The repository, with a narrator before it."""
        return cast("TaskRepository[Any]", cls(repository))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method
        method = getattr(self._repository, name)

        def call(tx: object, *args: object, **options: object) -> object:
            given = [list(each) if isinstance(each, Iterator) else each for each in args]
            words = [*map(shown, given), *(f"{key}={shown(value)}" for key, value in options.items())]
            line = f"{self._repository.owner}.{name}({', '.join(['tx', *words])})"
            try:
                result = method(tx, *given, **options)
            except Exception as error:
                note(f"{line}  # raises {error!r}")
                raise
            note(f"{line}  # {shown(result)}")
            return result

        return call


def shown(value: object) -> str:
    """A value as somebody would write it, without what goes without saying."""
    match value:
        case Enum():
            return str(value) if not isinstance(value, int) else f"{type(value).__name__}.{value.name}"
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case dict():
            return f"{{{', '.join(f'{shown(key)}: {shown(each)}' for key, each in value.items())}}}"
        case TaskCreation() | Task() | TaskDecision():
            said = {each.name: getattr(value, each.name) for each in fields(value)}
            given = [
                f"{each.name}={shown(said[each.name])}" for each in fields(value) if said[each.name] != each.default
            ]
            return f"{type(value).__name__}({', '.join(given)})"
        case _:
            return repr(value)
