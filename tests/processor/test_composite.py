"""Work in several steps."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, InvalidTaskError, Task, TaskDecision, TaskRepository, TaskResult, TaskResultError, TaskState
from task_processor import CompositeTaskHandlerFactory, Mode, OnClose, ShutdownError, TaskSupplement, UnavailableError
from tests.backends.steps import info, push, states
from tests.processor.support import PATIENCE, Gate, Recorder, running

if TYPE_CHECKING:
    from collections.abc import Sequence

    from task_processor import StepFunction
    from tests.backends import Backend

Repository = TaskRepository[Any]
Factory = CompositeTaskHandlerFactory
A, B, C = (Task(number, name) for number, name in enumerate("abc", 1))
SUCCESS = TaskDecision.SUCCESS


def nothing(_: object) -> None:
    """Succeed."""


def decide(factory: Factory, *tasks: Task) -> dict[Task, TaskDecision]:
    """Take one batch through the steps and return what it was decided; its failure is raised."""
    outcome: Future[dict[Task, TaskDecision]] = Future()

    def callback(completion: Any) -> bool:  # noqa: ANN401 - as declared
        outcome.set_result(completion(None))
        return True

    def on_failure(error: BaseException) -> bool:
        outcome.set_exception(error)
        return True

    handler = factory("topic")
    try:
        handler(tasks, callback, on_failure)
        return outcome.result(PATIENCE)
    finally:
        handler.close()


def deciding(**decisions: Any) -> StepFunction:
    """A step that gives or raises what is said for a task's name, and notes whom it saw."""

    def step(task: Task) -> Any:  # noqa: ANN401 - whatever is said
        seen.append(task.identifier)
        outcome = decisions.get(task.identifier)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    seen: list[str] = []
    step.seen = seen  # type: ignore[attr-defined]
    return step


def test_adding_a_step_leaves_the_factory_as_it_was() -> None:
    """Each call returns a new factory (CS-01)."""
    first = Factory()
    second = first.each("fail", deciding(a=TaskDecision.FAILURE))
    assert (decide(first, A), decide(second, A)) == ({A: SUCCESS}, {A: TaskDecision.FAILURE})


def test_unknown_dependencies_and_names_used_twice_are_refused() -> None:
    """So there can be no cycle (CS-02)."""
    factory = Factory().each("load", nothing)
    with pytest.raises(InvalidTaskError, match="unknown steps: 'lod'"):
        factory.batch("store", nothing, after=("load", "lod"))
    with pytest.raises(InvalidTaskError, match="'store' comes after unknown steps: 'store'"):
        factory.batch("store", nothing, after="store")
    with pytest.raises(InvalidTaskError, match="'load' already"):
        factory.batch("load", nothing)
    with pytest.raises(InvalidTaskError):
        Factory(concurrency=-1)


def test_without_steps_all_succeed() -> None:
    """Nothing to do is done (CS-03)."""
    assert decide(Factory(), A, B) == {A: SUCCESS, B: SUCCESS}


def test_steps_wait_for_those_before_them() -> None:
    """Dependencies are done first (CS-05)."""
    order: list[str] = []
    factory = Factory()
    for name, after in {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}.items():
        factory = factory.batch(name, lambda _, name=name: order.append(name), after=after)
    decide(factory, A)
    assert (order[0], sorted(order[1:3]), order[3]) == ("a", ["b", "c"], "d")


def test_independent_steps_run_at_once() -> None:
    """Two steps can wait for each other (CS-05)."""
    together = threading.Barrier(2)

    def meet(_: object) -> None:
        together.wait(PATIENCE)

    assert decide(Factory().batch("x", meet).batch("y", meet), A) == {A: SUCCESS}


def test_tasks_run_at_once_by_default() -> None:
    """A step for each task works on all in parallel, or one after the other if told so (CS-10)."""
    together = threading.Barrier(3)

    def meet(_: object) -> None:
        together.wait(PATIENCE)

    assert decide(Factory().each("meet", meet), A, B, C) == dict.fromkeys((A, B, C), SUCCESS)
    turns = deciding(b=ValueError())
    found = decide(Factory().each("turns", turns, mode=Mode.SEQUENTIAL), A, B, C)
    assert turns.seen == ["a", "b", "c"]  # type: ignore[attr-defined]
    assert [found[task].result for task in (A, B, C)] == [TaskResult.SUCCESS, TaskResult.FAILURE, TaskResult.SUCCESS]


@pytest.mark.parametrize("stopped", [TaskDecision.FAILURE, TaskDecision.SUSPENSION, TaskDecision.FILTER])
def test_tasks_that_do_not_continue_are_left_out(stopped: TaskDecision) -> None:
    """Later steps see the others only, and without any they are not called (CS-06, CS-08)."""
    last = deciding()
    factory = Factory().each("first", deciding(a=stopped)).each("last", last, after="first")
    assert decide(factory, A, B) == {A: stopped, B: SUCCESS}
    assert decide(factory, A) == {A: stopped}
    assert last.seen == ["b"]  # type: ignore[attr-defined]


def test_a_success_that_stops_is_left_out() -> None:
    """The flag counts, not the result (CS-06, CS-B4)."""
    last = deciding()
    stopping = SUCCESS.with_continuation(continued=False)
    decide(Factory().each("first", deciding(a=stopping)).each("last", last, after="first"), A)
    assert last.seen == []  # type: ignore[attr-defined]


def test_a_failure_that_continues_goes_on() -> None:
    """It keeps the worse result (CS-07, CS-09)."""
    last = deciding()
    continuing = TaskDecision.failure("first").with_continuation(continued=True)
    factory = Factory().each("first", deciding(a=continuing)).each("last", last, after="first")
    [found] = decide(factory, A).values()
    assert (found.result, found.message, last.seen) == (TaskResult.FAILURE, "first", ["a"])  # type: ignore[attr-defined]


def test_decisions_of_all_steps_are_merged() -> None:
    """The worst result counts, each message is kept once, also where paths meet (CS-09)."""
    factory = (
        Factory()
        .each("root", deciding(a=TaskDecision.success("root")))
        .each("left", deciding(a=TaskDecision.filter("left")), after="root")
        .each("right", deciding(a=TaskDecision.suspension("right")), after="root")
        .each("end", deciding(), after=("left", "right"))
    )
    [found] = decide(factory, A).values()
    assert (found.result, found.message) == (TaskResult.SUSPENSION, "root\nleft\nright")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_forms_of_steps(asynchronous: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Per task or per batch, with or without supplement and result, plain or asynchronous (CS-10)."""

    def single(task: Task, supplement: TaskSupplement) -> str:
        supplement.register(str, task.identifier, task=task)
        return "single"

    def whole(tasks: Sequence[Task], supplement: TaskSupplement) -> dict[Task, Any]:
        return {task: supplement.require(str, task=task) for task in tasks}

    async def single_asynchronously(task: Task, supplement: TaskSupplement) -> str:
        return single(task, supplement)

    async def whole_asynchronously(tasks: Sequence[Task], supplement: TaskSupplement) -> dict[Task, Any]:
        return whole(tasks, supplement)

    for mode in Mode:
        factory = (
            Factory()
            .each("single", single_asynchronously if asynchronous else single, mode=mode)
            .batch("whole", whole_asynchronously if asynchronous else whole, after=["single"])
            .batch("nothing", nothing, after="whole")
        )
        assert [found.message for found in decide(factory, A, B).values()] == ["single\na", "single\nb"]


def test_errors_fail_their_tasks() -> None:
    """In a step for each task that one, in a batch all that are active (CS-11, CS-B11)."""
    error = ValueError("bad")

    def fail(_: object) -> None:
        raise error

    factory = Factory().each("each", deciding(a=error)).batch("batch", fail, after="each")
    found = decide(factory, A, B)
    assert [(found[task].result, found[task].exception) for task in (A, B)] == [(TaskResult.FAILURE, error)] * 2
    only = Factory().each("each", deciding(a=error))
    assert decide(only, A, B)[B] == SUCCESS


@pytest.mark.parametrize("mode", [None, *Mode])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_errors_that_carry_a_result_give_it(mode: Mode | None, asynchronous: bool) -> None:  # noqa: FBT001
    """Message and flag come along, on every path (CS-12, CS-B1, CS-B2)."""

    def fail(_: object) -> None:
        raise TaskResultError(TaskResult.FILTER, "not today", continued=True)

    async def fail_asynchronously(_: object) -> None:
        fail(None)

    function = fail_asynchronously if asynchronous else fail
    factory = Factory()
    factory = factory.each("step", function, mode=mode) if mode else factory.batch("step", function)
    [found] = decide(factory, A).values()
    assert found == TaskDecision(TaskResult.FILTER, "not today", continued=True)


@pytest.mark.parametrize("outcome", [{A: SUCCESS}, {A: SUCCESS, B: None}])
def test_a_task_without_decision_fails_alone(outcome: dict[Task, Any]) -> None:
    """Its message names the step (CS-13, CS-B5)."""
    found = decide(Factory().batch("store", lambda _: outcome), A, B)
    assert found[A] == SUCCESS
    assert (found[B].result, found[B].message) == (
        TaskResult.FAILURE,
        "the task was missing in the result set of step 'store'",
    )


def test_decisions_for_other_tasks() -> None:
    """One outside of the batch fails all, one that is not active any more is ignored (CS-14)."""
    with pytest.raises(InvalidTaskError, match=r"step 'odd' decided tasks outside of the batch: c \(3\)"):
        decide(Factory().batch("odd", lambda _: {A: SUCCESS, C: SUCCESS}), A, B)
    factory = (
        Factory()
        .each("first", deciding(a=TaskDecision.filter("first")))
        .batch("second", lambda _: {A: TaskDecision.FAILURE, B: SUCCESS}, after="first")
    )
    assert decide(factory, A, B) == {A: TaskDecision.filter("first"), B: SUCCESS}


def test_decorators_wrap_every_step() -> None:
    """By topic and name, called with what the step takes (CS-15)."""
    calls = []

    def decorator(topic: str, name: str, function: StepFunction) -> StepFunction:
        def call(*arguments: Any) -> Any:  # noqa: ANN401 - whatever it gives
            calls.append((topic, name, len(arguments)))
            return function(*arguments)

        return call

    def supplemented(_: Task, __: TaskSupplement) -> None:
        """Take both."""

    factory = Factory(decorators=[decorator]).each("one", nothing).each("two", supplemented, after="one")
    decide(factory, A)
    assert calls == [("topic", "one", 1), ("topic", "two", 2)]


def square(task: Task) -> str:
    """Give the square of a number, or the result for what is none."""
    if not task.identifier.isdigit():
        raise TaskResultError(TaskResult.FILTER, "no number") from ValueError(task.identifier)
    return str(int(task.identifier) ** 2)


def test_steps_run_in_other_processes() -> None:
    """Outcomes and errors that carry a result come back whole (CS-05, CS-12, DESIGN 5)."""
    tasks = [Task(number, name) for number, name in enumerate(["2", "3", "x"])]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        found = decide(Factory(executor=executor).each("square", square), *tasks)
    assert [found[task].message for task in tasks[:2]] == ["4", "9"]
    assert (found[tasks[2]].result, repr(found[tasks[2]].exception)) == (TaskResult.FILTER, "ValueError('x')")


def test_a_small_executor_does_not_block_itself() -> None:
    """One thread is enough for any graph of steps (CS-05)."""
    with ThreadPoolExecutor(1) as executor:
        factory = Factory(executor=executor).each("a", nothing).each("b", nothing).batch("c", nothing, after=("a", "b"))
        assert decide(factory, A, B, C) == dict.fromkeys((A, B, C), SUCCESS)


def test_an_executor_that_refuses_defers_the_batch() -> None:
    """What can't even begin is to be tried again later (CS-17)."""
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(UnavailableError, match="after shutdown"):
        decide(Factory(executor=executor).each("a", nothing), A)


def test_an_executor_that_refuses_a_later_step_fails_the_batch() -> None:
    """Once something was done, it is an error like any other (CS-17)."""
    executor = ThreadPoolExecutor(1)

    def shut_down(_: Task) -> None:
        executor.shutdown(wait=False)

    with pytest.raises(RuntimeError, match="after shutdown"):
        decide(Factory(executor=executor).each("a", shut_down).each("b", nothing, after="a"), A)


class Batches:
    """Batches of one task each, offered from threads that may block."""

    def __init__(self, factory: Factory) -> None:
        self.handler = factory("topic")
        self.outcomes: list[Future[Any]] = []

    def offer(self) -> threading.Thread:
        """Offer one more batch."""
        outcome: Future[Any] = Future()
        self.outcomes.append(outcome)

        def callback(completion: Any) -> bool:  # noqa: ANN401 - as declared
            outcome.set_result(completion(None))
            return True

        def on_failure(error: BaseException) -> bool:
            outcome.set_exception(error)
            return True

        tasks = (Task(len(self.outcomes), "task"),)
        thread = threading.Thread(target=self.handler, args=(tasks, callback, on_failure))
        thread.start()
        return thread


@pytest.mark.parametrize("concurrency", [0, 1, 2])
def test_concurrency_bounds_the_batches_in_flight(concurrency: int) -> None:
    """With n, the handler takes n at once and blocks with one more under way (CS-20)."""
    with Gate() as gate:
        batches = Batches(Factory(concurrency=concurrency).each("wait", gate.pass_through))
        for _ in range(concurrency):
            thread = batches.offer()
            thread.join(PATIENCE)
            assert not thread.is_alive()
        blocked = batches.offer()
        for _ in range(concurrency + 1):
            gate.wait()
        blocked.join(0.05)
        assert blocked.is_alive()
        gate.open()
        blocked.join(PATIENCE)
        batches.handler.close()
    assert [outcome.done() for outcome in batches.outcomes] == [True] * (concurrency + 1)


@pytest.mark.parametrize("concurrency", [0, 1])
@pytest.mark.parametrize("on_close", OnClose)
def test_closing_finishes_or_fails_unfinished_batches(concurrency: int, on_close: OnClose) -> None:
    """A call that runs is finished; further steps are begun or the batch fails (CS-21, CS-B6, CS-B7)."""
    last = deciding()
    with Gate() as gate:
        factory = Factory(concurrency=concurrency, on_close=on_close)
        batches = Batches(factory.each("wait", gate.pass_through).each("last", last, after="wait"))
        thread = batches.offer()
        gate.wait()
        closing = threading.Thread(target=batches.handler.close)
        closing.start()
        closing.join(0.05)
        assert closing.is_alive()
        gate.open()
        closing.join(PATIENCE)
        thread.join(PATIENCE)
    [outcome] = batches.outcomes
    if on_close is OnClose.FAIL_PENDING:
        assert isinstance(outcome.exception(PATIENCE), ShutdownError)
        assert last.seen == []  # type: ignore[attr-defined]
    else:
        assert list(outcome.result(PATIENCE).values()) == [SUCCESS]
        assert last.seen == ["task"]  # type: ignore[attr-defined]
    with pytest.raises(ShutdownError):
        batches.handler((A,), lambda _: True, lambda _: True)


@pytest.mark.kinds("driver")
@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize("concurrency", [0, 2])
def test_steps_process_a_topic(
    backend: Backend, repository: Repository, topic: str, claim: Claim, concurrency: int
) -> None:
    """Tasks pass through steps to their decisions in the database (CS-05, CS-09, CS-20)."""
    tasks = push(backend, repository, topic, *"abcdef")
    recorder = Recorder()
    factory = Factory(concurrency=concurrency).each("load", deciding(b=TaskDecision.filter("no"), c=ValueError("bad")))
    factory = factory.batch("store", nothing, after="load")
    with running(backend, repository, factory, listener=recorder, size=2, claim=claim):
        recorder.wait("complete", 3)
    expected = [TaskState.SUCCEEDED, TaskState.FILTERED, TaskState.FAILED, *[TaskState.SUCCEEDED] * 3]
    assert list(states(backend, repository, topic).values()) == expected
    assert "ValueError: bad" in (info(backend, repository, topic, tasks[2]).output or "")
