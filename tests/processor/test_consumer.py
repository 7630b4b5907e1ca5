"""Pushing and joining by the tasks of a batch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from task_api import (
    Claim,
    Insertion,
    InvalidTaskError,
    Junction,
    Task,
    TaskCreation,
    TaskDecision,
    TaskRepository,
    TaskState,
)
from task_processor import (
    CompositeTaskContext,
    CompositeTaskHandlerFactory,
    TaskConsumerContext,
    TaskContext,
    TaskSupplement,
    each,
    tagging,
)
from tests.backends.steps import push, states
from tests.processor.support import Recorder, running

if TYPE_CHECKING:
    from collections.abc import Sequence

    from task_processor import StepFunction
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
Context = TaskConsumerContext[Any]
claims = pytest.mark.parametrize("claim", Claim)


@pytest.fixture(autouse=True)
def _topics(backend: Backend, repository: Repository) -> None:
    """Two more topics."""
    with backend.begin() as tx:
        repository.initialize(tx, "next")
        repository.initialize(tx, "other")


def process(
    backend: Backend,
    repository: Repository,
    step: StepFunction,
    *,
    claim: Claim = Claim.COMMITTED,
    processors: Any = None,  # noqa: ANN401 - fakes
    **options: Any,
) -> Recorder:
    """Work on the topic in one batch with a consumer context and one step for the batch."""
    recorder = Recorder()

    def context(topic: str, tasks: Sequence[Task]) -> TaskContext:
        return TaskConsumerContext(topic, tasks, repository, processors, **options)

    factory = CompositeTaskHandlerFactory(concurrency=0, context=context).batch("step", step)
    with running(backend, repository, factory, listener=recorder, claim=claim):
        recorder.wait("empty")
    return recorder


def found(backend: Backend, repository: Repository, topic: str) -> list[str]:
    """The identifiers of a topic, in order."""
    with backend.begin() as tx:
        return [task.identifier for task in repository.page(tx, topic)]


class Processor:
    """Counts how often it is resumed."""

    def __init__(self, error: Exception | None = None) -> None:
        self.resumed = 0
        self.error = error

    def resume(self) -> bool:
        """Count."""
        self.resumed += 1
        if self.error is not None:
            raise self.error
        return True


@claims
def test_tasks_that_continue_push_others(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """Nothing is pushed before the completion; tasks that stopped push nothing (CC-01, CC-03)."""
    push(backend, repository, topic, "good", "bad", "continuing")
    early = []

    def step(tasks: Sequence[Task], supplement: TaskSupplement) -> dict[Task, TaskDecision]:
        context: Context = supplement.context
        good, bad, continuing = tasks
        context.push(tasks, "next")
        context.push(good, "next", "named")
        context.push(good, "next", TaskCreation("created", input="data"))
        early.extend(backend.sql("SELECT 1 FROM task WHERE topic = 'next'"))
        return {
            good: TaskDecision.SUCCESS,
            bad: TaskDecision.FAILURE,
            continuing: TaskDecision.FAILURE.with_continuation(continued=True),
        }

    process(backend, repository, step, claim=claim)
    assert early == []
    assert found(backend, repository, "next") == ["good", "continuing", "named", "created"]
    assert list(states(backend, repository, topic).values()) == [
        TaskState.SUCCEEDED,
        TaskState.FAILED,
        TaskState.FAILED,
    ]


def test_tasks_outside_of_the_batch_are_refused(repository: Repository) -> None:
    """At once, for pushes and junctions; an empty set of tasks is nothing (CC-02)."""
    mine, foreign = Task(1, "mine"), Task(2, "foreign")
    context = TaskConsumerContext("topic", [mine], repository)
    context.push([], "next")
    context.junction([], "next", ["x"])
    with pytest.raises(InvalidTaskError, match=r"outside of the batch: foreign \(2\)"):
        context.push([mine, foreign], "next")
    with pytest.raises(InvalidTaskError, match="outside of the batch"):
        context.junction(foreign, "next", ["x"])


@claims
def test_a_push_that_fails_undoes_all(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """Pushes, junctions and decisions commit together or not at all (CC-04, CC-B4)."""
    push(backend, repository, topic, "a")
    processor = Processor()

    def step(tasks: Sequence[Task], supplement: TaskSupplement) -> None:
        supplement.context.push(tasks, "next")
        supplement.context.push(tasks, "unknown")

    process(backend, repository, step, claim=claim, processors={"next": processor})
    assert found(backend, repository, "next") == []
    assert list(states(backend, repository, topic).values()) == [TaskState.FAILED]
    assert processor.resumed == 0


def test_pushes_keep_their_order_and_mode(backend: Backend, repository: Repository, topic: str) -> None:
    """By topic in the order recorded; neighbours with one mode are one push (CC-05)."""
    push(backend, repository, topic, "a")
    calls = []

    class Noting:
        """Notes pushes, and does all that the repository does."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it is
            return getattr(repository, name)

        def push_many(self, tx: Transaction, topic: str, creations: Any, *, insertion: Insertion) -> Any:  # noqa: ANN401
            """Note."""
            calls.append((topic, insertion, [creation.identifier for creation in creations]))
            return repository.push_many(tx, topic, creations, insertion=insertion)

    def step(tasks: Sequence[Task], supplement: TaskSupplement) -> None:
        context: Context = supplement.context
        for number, (name, insertion) in enumerate(
            [
                ("next", Insertion.APPEND),
                ("other", Insertion.APPEND),
                ("next", Insertion.APPEND),
                ("next", Insertion.REPLACE),
                ("next", Insertion.APPEND),
            ]
        ):
            context.push(tasks[0], name, str(number), insertion=insertion)

    process(backend, Noting(), step)  # type: ignore[arg-type]
    assert calls == [
        ("next", Insertion.APPEND, ["0", "2"]),
        ("next", Insertion.REPLACE, ["3"]),
        ("next", Insertion.APPEND, ["4"]),
        ("other", Insertion.APPEND, ["1"]),
    ]


def test_pushes_come_before_junctions(backend: Backend, repository: Repository, topic: str) -> None:
    """A junction finds what was pushed with it; its group includes the task itself (CC-06, CC-07)."""
    push(backend, repository, topic, "left")
    push(backend, repository, "next", "right", suspended=True)

    def step(tasks: Sequence[Task], supplement: TaskSupplement) -> None:
        context: Context = supplement.context
        context.junction(tasks[0], "next", ["right"], junction=Junction.SINGULAR)
        context.push(tasks[0], "next", TaskCreation("left", suspended=True))

    process(backend, repository, step)
    assert set(states(backend, repository, "next").values()) == {TaskState.READY}


def test_a_postprocessor_changes_creations(backend: Backend, repository: Repository, topic: str) -> None:
    """None, one or many are pushed instead (CC-08)."""
    push(backend, repository, topic, "none", "one", "many")

    def change(_: Task, creation: TaskCreation) -> Any:  # noqa: ANN401 - all forms
        return {"none": None, "one": creation, "many": [creation, TaskCreation("more")]}[creation.identifier]

    def step(tasks: Sequence[Task], supplement: TaskSupplement) -> None:
        supplement.context.push(tasks, "next")

    process(backend, repository, step, postprocessor=change)
    assert found(backend, repository, "next") == ["one", "many", "more"]


def test_tagging_sets_the_reference() -> None:
    """The sequence of the source or a text, over an existing one unless told not to (CC-08)."""
    task = Task(7, "a")
    plain, tagged = TaskCreation("a"), TaskCreation("a", reference="mine")

    def references(postprocessor: Any) -> list[str]:  # noqa: ANN401 - all forms
        return [postprocessor(task, creation).reference for creation in (plain, tagged)]

    assert references(tagging()) == ["7", "7"]
    assert references(tagging("run")) == ["run", "run"]
    assert references(tagging(override=False)) == ["7", "mine"]


def test_touched_processors_are_resumed_after_the_commit(backend: Backend, repository: Repository, topic: str) -> None:
    """Only those whose topics got something; an error of one affects nobody (CC-09, CC-B1, CC-B3)."""
    push(backend, repository, topic, "good", "bad")
    processors = {"next": Processor(ValueError()), "other": Processor(), "third": Processor()}

    def step(tasks: Sequence[Task], supplement: TaskSupplement) -> dict[Task, TaskDecision]:
        good, bad = tasks
        supplement.context.push(good, "next")
        supplement.context.push(bad, "other")
        supplement.context.push(good, topic)
        return {good: TaskDecision.SUCCESS, bad: TaskDecision.FAILURE}

    # The task pushed to the topic itself comes as a batch of its own, and fails for want of a second one.
    process(backend, repository, step, processors=processors)
    assert found(backend, repository, "next") == ["good"]
    assert [processor.resumed for processor in processors.values()] == [1, 0, 0]


def test_a_resumed_manager_gets_to_work(backend: Backend, repository: Repository, topic: str) -> None:
    """Topics form a pipeline without waiting for pauses (CC-09, TM-08)."""
    push(backend, repository, topic, "a", "b")
    listener = Recorder()

    def step(tasks: Sequence[Task], supplement: TaskSupplement) -> None:
        supplement.context.push(tasks, "next")

    with running(backend, repository, each(lambda _: None), topic="next", listener=listener) as following:
        listener.wait("empty")
        process(backend, repository, step, processors={"next": following})
        listener.wait("complete")
    assert set(states(backend, repository, "next").values()) == {TaskState.SUCCEEDED}


def test_nothing_recorded_changes_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """Decisions pass, nobody is resumed (CC-10)."""
    push(backend, repository, topic, "a")
    processor = Processor()
    process(backend, repository, lambda _: None, processors={"next": processor, topic: processor})
    assert list(states(backend, repository, topic).values()) == [TaskState.SUCCEEDED]
    assert processor.resumed == 0


def test_recording_is_safe_from_parallel_steps(backend: Backend, repository: Repository, topic: str) -> None:
    """No entry is lost (CC-11)."""
    tasks = [Task(number, str(number)) for number in range(50)]
    context = TaskConsumerContext(topic, tasks, repository)
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda task: context.push([task] * 20, "next"), tasks))
        completion = context.complete(dict.fromkeys(tasks, TaskDecision.SUCCESS), executor, TaskSupplement())
    with backend.begin() as tx:
        completion(tx)
    assert len(found(backend, repository, "next")) == 100
    assert backend.sql("SELECT count(*) FROM task WHERE topic = 'next'") == [(1000,)]


def test_two_consumer_contexts_in_one_batch(backend: Backend, repository: Repository, topic: str) -> None:
    """Both push, and the processors of both are resumed (CC-B2, CS-22)."""
    push(backend, repository, topic, "a")
    processors: Any = {"next": Processor(), "other": Processor()}
    recorder = Recorder()

    def context(topic: str, tasks: Sequence[Task]) -> TaskContext:
        pair = [TaskConsumerContext(topic, tasks, repository, processors) for _ in range(2)]
        return CompositeTaskContext(*pair)

    def step(tasks: Sequence[Task], supplement: TaskSupplement) -> None:
        first, second = supplement.context.contexts
        first.push(tasks, "next")
        second.push(tasks, "other")

    factory = CompositeTaskHandlerFactory(concurrency=0, context=context).batch("step", step)
    with running(backend, repository, factory, listener=recorder):
        recorder.wait("empty")
    assert (found(backend, repository, "next"), found(backend, repository, "other")) == (["a"], ["a"])
    assert [processor.resumed for processor in processors.values()] == [1, 1]
