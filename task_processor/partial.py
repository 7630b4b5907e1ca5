"""Batch functions for a part of the batch."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from task_api import Task, TaskDecision

from .event_loop import perform
from .functions import decisions_of
from .signature import wants_second
from .steps import StepFunction
from .supplement import TaskSupplement

__all__ = ["partial_batch"]


def partial_batch(
    fn: StepFunction, predicate: Callable[[Task], bool], *, fallback: TaskDecision = TaskDecision.SUCCESS
) -> StepFunction:
    """
    Make a batch function that passes on only the tasks that match; the others get the fallback.

    Without a match the function is not called. When it raises, only the tasks that match fail, and one that it does
    not decide is missing, as in any batch.
    """
    supplemented = wants_second(fn)

    def arguments(matching: Sequence[Task], supplement: TaskSupplement) -> tuple[Any, ...]:
        return (matching, supplement) if supplemented else (matching,)

    def combine(tasks: Sequence[Task], decided: dict[Task, TaskDecision]) -> dict[Task, TaskDecision]:
        return {**{task: fallback for task in tasks if not predicate(task)}, **decided}

    if inspect.iscoroutinefunction(fn):

        async def run_asynchronously(tasks: Sequence[Task], supplement: TaskSupplement) -> dict[Task, TaskDecision]:
            matching = tuple(task for task in tasks if predicate(task))
            try:
                decided = decisions_of(matching, await fn(*arguments(matching, supplement)) if matching else {})
            except Exception as error:  # noqa: BLE001 - whatever work raises is its tasks' failure
                decided = dict.fromkeys(matching, TaskDecision.of(error))
            return combine(tasks, decided)

        return run_asynchronously

    def run(tasks: Sequence[Task], supplement: TaskSupplement) -> dict[Task, TaskDecision]:
        matching = tuple(task for task in tasks if predicate(task))
        try:
            decided = decisions_of(matching, perform(fn, *arguments(matching, supplement)) if matching else {})
        except Exception as error:  # noqa: BLE001 - whatever work raises is its tasks' failure
            decided = dict.fromkeys(matching, TaskDecision.of(error))
        return combine(tasks, decided)

    return run
