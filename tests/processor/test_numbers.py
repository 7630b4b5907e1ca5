"""Numbers that a caller gives: a wrong one is refused at once, whatever its type."""

from __future__ import annotations

from contextlib import nullcontext
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from task_api import InvalidTaskError
from task_processor import (
    BufferingTaskHandlerFactory,
    CompositeTaskHandlerFactory,
    RetryPolicy,
    TaskLimiter,
    TaskManager,
    Worker,
    each,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import Task


def nothing(_: Task) -> None:
    """Succeed."""


TAKERS: dict[str, Callable[[Any], object]] = {
    "buffer": lambda number: BufferingTaskHandlerFactory(each(nothing), buffer=number, workers=1),
    "workers": lambda number: BufferingTaskHandlerFactory(each(nothing), buffer=1, workers=number),
    "concurrency": lambda number: CompositeTaskHandlerFactory(concurrency=number),
    "size": lambda number: TaskManager("topic", None, nullcontext, each(nothing), size=number),  # type: ignore[arg-type]
    "max_attempts": RetryPolicy,
    "slots": TaskLimiter.bounded,
}


@pytest.mark.parametrize("number", [-1, True, 1.5, float("nan"), Decimal("NaN"), "1", None])
@pytest.mark.parametrize("name", TAKERS)
def test_a_number_of_things_is_a_whole_one(name: str, number: object) -> None:
    """Not a truth, a fraction or a text, and the error names it."""
    with pytest.raises(InvalidTaskError, match=f"{name} must be at least [01], not "):
        TAKERS[name](number)


def test_a_worker_works_for_a_repository() -> None:
    """Anything else is refused where it is given."""
    with pytest.raises(InvalidTaskError, match="repository must be a TaskRepository, not str"):
        Worker("repository", nullcontext, [])  # type: ignore[arg-type]
