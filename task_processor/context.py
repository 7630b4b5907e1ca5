"""What belongs to one batch as a whole: the last word on its decisions, and what comes after the commit."""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any, TypeAlias

from task_api import InvalidTaskError, Task, TaskDecision

from .event_loop import perform
from .listener import LOGGER
from .savepoint import savepoint
from .supplement import TaskSupplement

__all__ = ["CompositeTaskContext", "ContextCompletion", "Decisions", "TaskContext", "merged", "settled"]

Decisions: TypeAlias = Mapping[Task, TaskDecision]
"""A decision for each task."""

ContextCompletion: TypeAlias = Callable[[Any], Decisions | None]
"""Runs inside the transaction; gives decisions to merge onto those of the steps, or None to leave them."""


class TaskContext:
    """One batch as its steps see it; override what you need. Both methods may also be ``async def``."""

    def complete(self, decisions: Decisions, executor: Executor, supplement: TaskSupplement) -> Any:  # noqa: ANN401, ARG002
        """
        Prepare the end of the batch, before its transaction begins, and return a function of that transaction.

        That function's decisions are merged onto those given, so that it can worsen them and add to them. Where a
        savepoint undid its effects, because another context decided otherwise, this is called again. Raising
        fails the batch.
        """
        return _unchanged

    def after_transaction(self, executor: Executor, supplement: TaskSupplement) -> Any:  # noqa: ANN401
        """Do what is to be done once the decisions are committed; an error is logged, no more."""


class CompositeTaskContext(TaskContext):
    """
    Several contexts as one.

    All see the decisions of the steps, and their completions run in order in the one transaction. Effects belong to
    what is decided in the end: when a completion stops a task that another one has dealt with already, all effects
    are undone to a savepoint, and the completions run again with the decisions known by then.
    """

    def __init__(self, *contexts: TaskContext) -> None:
        self._contexts = contexts

    @property
    def contexts(self) -> tuple[TaskContext, ...]:
        """The contexts that this one is made of."""
        return self._contexts

    def complete(self, decisions: Decisions, executor: Executor, supplement: TaskSupplement) -> ContextCompletion:
        """Prepare the end of the batch in every context; an error of one fails all tasks."""

        def prepare(decided: Decisions) -> list[ContextCompletion]:
            completions = [settled(context.complete(decided, executor, supplement)) for context in self._contexts]
            return [completion or _unchanged for completion in completions]

        try:
            completions = prepare(decisions)
        except Exception as error:  # noqa: BLE001 - becomes the decision
            failed = TaskDecision.failure(error)
            return lambda _: {task: decision.merge(failed) for task, decision in decisions.items()}
        return lambda tx: _apply(tx, decisions, completions, prepare)

    def after_transaction(self, executor: Executor, supplement: TaskSupplement) -> None:
        """Tell every context in order; an error of one does not keep the others from hearing."""
        for context in self._contexts:
            try:
                settled(context.after_transaction(executor, supplement))
            except Exception:  # noqa: BLE001 - logged
                LOGGER.exception("a context raised after its transaction")


def merged(decisions: Decisions, found: Decisions | None) -> dict[Task, TaskDecision]:
    """Merge what a completion decided onto what was decided before; whom it leaves out has failed."""
    if found is None:
        return dict(decisions)
    if foreign := [task for task in found if task not in decisions]:
        message = f"decisions for tasks outside of the batch: {', '.join(map(str, foreign))}"
        raise InvalidTaskError(message)
    return {task: decision.merge(_decision(found.get(task))) for task, decision in decisions.items()}


def settled(outcome: Any) -> Any:  # noqa: ANN401 - whatever it gives
    """Wait for what may be a future or an awaitable."""
    if isinstance(outcome, Future):
        return outcome.result()
    return perform(lambda: outcome) if isinstance(outcome, Awaitable) else outcome


def _decision(found: TaskDecision | None) -> TaskDecision:
    if found is None:
        return TaskDecision.failure("the task was missing in the result set of the context")
    return TaskDecision.of(found)


def _unchanged(_: object) -> None:
    """Leave the decisions as they are."""


def _apply(
    tx: Any,  # noqa: ANN401 - the dispatcher's
    decisions: Decisions,
    completions: list[ContextCompletion],
    prepare: Callable[[Decisions], list[ContextCompletion]],
) -> Decisions:
    """Run completions until what they assumed about the tasks that continue is what they decide."""
    current = dict(decisions)
    while True:
        try:
            with savepoint(tx):
                found = current
                for completion in completions:
                    found = merged(found, completion(tx))
                _check(current, found)
                return found
        except _OutdatedError:
            # Each turn stops at least one task, so that this ends.
            current = {
                task: found[task] if decision.continued and not found[task].continued else decision
                for task, decision in current.items()
            }
            completions = prepare(current)


def _check(assumed: Decisions, found: Decisions) -> None:
    if any(decision.continued and not found[task].continued for task, decision in assumed.items()):
        raise _OutdatedError


class _OutdatedError(Exception):
    """Effects were made for tasks that have been stopped since."""
