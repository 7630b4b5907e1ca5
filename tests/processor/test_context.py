"""The context of a batch: the last word on its decisions, and what comes after the commit."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskDecision, TaskRepository, TaskResult, TaskState
from task_processor import (
    CompositeTaskContext,
    CompositeTaskHandlerFactory,
    TaskContext,
    TaskSupplement,
)
from tests.backends.steps import info, push, states
from tests.processor.support import Recorder, running

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
Decisions = dict[Task, TaskDecision]
Factory = CompositeTaskHandlerFactory
claims = pytest.mark.parametrize("claim", Claim)


class Noting(TaskContext):
    """Completes with what it is given, and notes what it sees."""

    def __init__(self, completion: Callable[..., Any] | None = None, *, after: Exception | None = None) -> None:
        self._completion = completion
        self._after = after
        self.completed: list[Any] = []
        self.afterwards = 0
        self.done = threading.Event()

    def complete(self, decisions: Mapping[Task, TaskDecision], executor: Executor, supplement: TaskSupplement) -> Any:  # noqa: ANN401
        """Note, and give the completion."""
        assert (executor is not None, isinstance(supplement, TaskSupplement)) == (True, True)
        self.completed.append(dict(decisions))
        completion = self._completion
        return None if completion is None else lambda tx: completion(tx, decisions)

    def after_transaction(self, executor: Executor, supplement: TaskSupplement) -> None:
        """Note, and raise if told so."""
        assert (executor is not None, isinstance(supplement, TaskSupplement)) == (True, True)
        self.afterwards += 1
        self.done.set()
        if self._after is not None:
            raise self._after


class Failing(TaskContext):
    """Raises, or answers with a future that fails, or with a coroutine that does."""

    def __init__(self, way: str) -> None:
        self._way = way

    def complete(self, decisions: object, executor: object, supplement: object) -> Any:  # noqa: ANN401, ARG002
        """Fail."""
        error = ValueError("context")
        if self._way == "raise":
            raise error
        if self._way == "coroutine":
            return self._fail(error)
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed

    async def _fail(self, error: ValueError) -> None:
        raise error


def process(
    backend: Backend, repository: Repository, context: TaskContext, claim: Claim = Claim.COMMITTED, **steps: Any
) -> Recorder:
    """Work on all that there is in one batch with one context."""
    recorder = Recorder()
    made = []

    def factory(topic: str, tasks: Sequence[Task]) -> TaskContext:
        made.append((topic, list(tasks)))
        return context

    composite = Factory(concurrency=0, context=factory)
    for name, step in steps.items():
        composite = composite.each(name, step)
    with running(backend, repository, composite, listener=recorder, claim=claim):
        recorder.wait("empty")
    assert len(made) == 1
    return recorder


@claims
def test_a_completion_annotates_and_worsens(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """Its decisions are merged onto those of the steps, inside the transaction (CS-04, CS-16)."""
    good, bad, skip = push(backend, repository, topic, "good", "bad", "skip")
    with backend.begin() as tx:
        repository.initialize(tx, "effects")

    def step(task: Task, supplement: TaskSupplement) -> TaskDecision:
        assert supplement.context is context
        return TaskDecision.filter("by step") if task == skip else TaskDecision.SUCCESS

    def complete(tx: Transaction, decisions: Decisions) -> Decisions:
        repository.push(tx, "effects", "effect")
        return {
            task: TaskDecision.failure("late") if task == bad else TaskDecision.success("seen") for task in decisions
        }

    context = Noting(complete)
    process(backend, repository, context, claim, step=step)
    found = [info(backend, repository, topic, task) for task in (good, bad, skip)]
    assert [(task.state, task.output) for task in found] == [
        (TaskState.SUCCEEDED, "seen"),
        (TaskState.FAILED, "late"),
        (TaskState.FILTERED, "by step\nseen"),
    ]
    assert len(states(backend, repository, "effects")) == 1
    assert context.afterwards == 1


def test_a_completion_that_gives_nothing_changes_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """The decisions of the steps stand, and the context hears of the commit once (CS-16, CS-19)."""
    [task] = push(backend, repository, topic, "a")
    context = Noting()
    process(backend, repository, context)
    assert info(backend, repository, topic, task).state == TaskState.SUCCEEDED
    assert (context.completed, context.afterwards) == ([{task: TaskDecision.SUCCESS}], 1)


def test_a_task_that_the_completion_leaves_out_fails(backend: Backend, repository: Repository, topic: str) -> None:
    """It was forgotten; one outside of the batch fails all (CS-16, TM-17, TM-18)."""
    first, second = push(backend, repository, topic, "a", "b")
    process(backend, repository, Noting(lambda _, __: {first: TaskDecision.SUCCESS}))
    assert states(backend, repository, topic) == {
        first.sequence: TaskState.SUCCEEDED,
        second.sequence: TaskState.FAILED,
    }
    [third] = push(backend, repository, topic, "c")
    process(backend, repository, Noting(lambda _, __: {first: TaskDecision.SUCCESS}))
    assert "outside of the batch" in (info(backend, repository, topic, third).output or "")


@pytest.mark.parametrize("way", ["raise", "future", "coroutine"])
@claims
def test_a_context_that_fails_fails_the_batch(
    backend: Backend, repository: Repository, topic: str, way: str, claim: Claim
) -> None:
    """Raised at once or answered later, the failure goes to all tasks (CS-17)."""
    push(backend, repository, topic, "a", "b")
    recorder = process(backend, repository, Failing(way), claim)
    assert set(states(backend, repository, topic).values()) == {TaskState.FAILED}
    assert recorder.names() == ["start", "error", "dispatched"]


@claims
def test_a_completion_that_raises_rolls_back(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Its effects are undone, the batch fails, and nothing comes after (CS-18, CS-B3)."""
    [task] = push(backend, repository, topic, "a")

    def complete(tx: Transaction, _: Decisions) -> None:
        repository.push(tx, topic, "effect")
        raise ValueError

    context = Noting(complete)
    recorder = process(backend, repository, context, claim)
    assert states(backend, repository, topic) == {task.sequence: TaskState.FAILED}
    assert (len(context.completed), context.afterwards) == (1, 0)
    assert recorder.names() == ["start", "callback", "error", "dispatched"]


def test_an_error_after_the_transaction_changes_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """The decisions stand, and no other outcome is reported (CS-19, CS-B8)."""
    [task] = push(backend, repository, topic, "a")
    context = Noting(after=ValueError("after"))
    recorder = process(backend, repository, context)
    assert info(backend, repository, topic, task).state == TaskState.SUCCEEDED
    assert recorder.names() == ["start", "callback", "complete", "dispatched"]
    assert context.afterwards == 1


def test_contexts_work_together(backend: Backend, repository: Repository, topic: str) -> None:
    """All see the same decisions, their completions run in order, and decisions merge (CS-22, CS-24)."""
    [task] = push(backend, repository, topic, "a")
    order: list[str] = []

    def completing(name: str) -> Callable[..., Any]:
        def complete(_: Transaction, decisions: Decisions) -> Decisions:
            order.append(name)
            return dict.fromkeys(decisions, TaskDecision.success(name))

        return complete

    contexts = [Noting(completing("first"), after=ValueError()), Noting(completing("second")), Noting()]
    composite = CompositeTaskContext(*contexts)
    process(backend, repository, composite)
    assert composite.contexts == tuple(contexts)
    assert order == ["first", "second"]
    assert info(backend, repository, topic, task).output == "first\nsecond"
    assert [context.completed for context in contexts] == [[{task: TaskDecision.SUCCESS}]] * 3
    assert [context.afterwards for context in contexts] == [1, 1, 1]


@pytest.mark.parametrize("way", ["raise", "future"])
def test_one_failing_context_fails_all_tasks(backend: Backend, repository: Repository, topic: str, way: str) -> None:
    """The others have no effects, and those after one that raises are not asked (CS-23, CS-B9)."""
    push(backend, repository, topic, "a", "b")

    def complete(tx: Transaction, _: Decisions) -> None:
        repository.push(tx, topic, "effect")

    first, last = Noting(complete), Noting(complete)
    process(backend, repository, CompositeTaskContext(first, Failing(way), last))
    assert list(states(backend, repository, topic).values()) == [TaskState.FAILED] * 2
    assert (len(first.completed), last.completed) == (1, [])


def test_a_context_that_leaves_a_task_out_fails_it(backend: Backend, repository: Repository, topic: str) -> None:
    """Among several contexts too (CS-23)."""
    first, second = push(backend, repository, topic, "a", "b")
    context = CompositeTaskContext(Noting(), Noting(lambda _, __: {second: TaskDecision.SUCCESS}))
    process(backend, repository, context)
    assert states(backend, repository, topic) == {
        first.sequence: TaskState.FAILED,
        second.sequence: TaskState.SUCCEEDED,
    }


@claims
def test_effects_for_tasks_that_are_stopped_later_are_undone(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Whatever the order of contexts, only tasks that continue in the end have effects (CS-B9)."""
    good, bad = push(backend, repository, topic, "good", "bad")
    with backend.begin() as tx:
        repository.initialize(tx, "effects")

    def effect(tx: Transaction, decisions: Decisions) -> None:
        for task, decision in decisions.items():
            if decision.continued:
                repository.push(tx, "effects", task.identifier)

    def stop(_: Transaction, decisions: Decisions) -> Decisions:
        return {task: TaskDecision.failure("stop") if task == bad else TaskDecision.SUCCESS for task in decisions}

    before, after = Noting(effect), Noting(effect)
    process(backend, repository, CompositeTaskContext(before, Noting(stop), after), claim)
    assert states(backend, repository, topic) == {good.sequence: TaskState.SUCCEEDED, bad.sequence: TaskState.FAILED}
    with backend.begin() as tx:
        assert [task.identifier for task in repository.page(tx, "effects")] == ["good", "good"]
    assert [decisions[bad].result for decisions in before.completed] == [TaskResult.SUCCESS, TaskResult.FAILURE]
    assert info(backend, repository, topic, bad).output == "stop"
