"""Completion: section 4 of the behaviours. What is not held is in test_present_holder."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from operator import attrgetter
from typing import Any

import pytest

from task_api import (
    Claim,
    InvalidTaskError,
    LostTaskError,
    Revivification,
    Task,
    TaskDecision,
    TaskResult,
    TaskState,
)
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push, states
from tests.conformance.scenes import Repository, now, run

ACTIVE, READY, SUCCEEDED = TaskState.ACTIVE, TaskState.READY, TaskState.SUCCEEDED


def held(backend: Backend, repository: Repository, topic: str, *identifiers: str) -> list[Task]:
    """Push tasks and poll them."""
    push(backend, repository, topic, *identifiers)
    return poll(backend, repository, topic, len(identifiers))


def outputs(backend: Backend, repository: Repository, topic: str) -> list[tuple[TaskState, str | None]]:
    """Return state and output of every task by sequence."""
    return [(task.state, task.output) for task in run(backend, repository.page, topic)]


@pytest.mark.parametrize("result", TaskResult, ids=attrgetter("name"))
def test_completing_stores_the_decision(
    backend: Backend, repository: Repository, topic: str, result: TaskResult
) -> None:
    """State, output and completion time are set, descent and owner stay (CO-01, CO-10)."""
    [task] = held(backend, repository, topic, "a")
    complete(backend, repository, topic, task, TaskDecision(result, "done"))
    done = info(backend, repository, topic, task)

    assert (done.state, done.output, done.owner, done.descent) == (result.state, "done", "me", READY)
    assert done.completed is not None
    assert done.created <= done.completed


def test_the_single_form_succeeds_by_default(backend: Backend, repository: Repository, topic: str) -> None:
    """Without a decision a task has succeeded (CO-01)."""
    [task] = held(backend, repository, topic, "a")
    run(backend, repository.complete, topic, task)

    assert outputs(backend, repository, topic) == [(SUCCEEDED, None)]


@pytest.mark.parametrize("name", ["topic", "unknown"])
def test_an_empty_map_changes_nothing(backend: Backend, repository: Repository, topic: str, name: str) -> None:
    """Deciding no task is no error, in whatever topic (CO-02)."""
    [task] = held(backend, repository, topic, "a")
    run(backend, repository.complete_many, name, {})

    assert states(backend, repository, topic) == {task.sequence: ACTIVE}


def test_what_is_lost_is_listed_and_nothing_is_kept(backend: Backend, repository: Repository, topic: str) -> None:
    """The call fails whole, and names exactly the tasks that were not held (CO-07, CO-B3)."""
    first, second, third = held(backend, repository, topic, *"abc")
    [never] = push(backend, repository, topic, "d")
    missing = Task(999_999, "e")
    complete(backend, repository, topic, second)
    decisions = dict.fromkeys([first, second, third, never, missing], TaskDecision.failure("no"))
    with backend.begin() as tx, pytest.raises(LostTaskError) as lost:
        repository.complete_many(tx, topic, decisions)

    assert lost.value.tasks == {second, never, missing}
    assert outputs(backend, repository, topic) == [
        (ACTIVE, None),
        (SUCCEEDED, None),
        (ACTIVE, None),
        (READY, None),
    ]


def test_one_lost_task_poisons_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """Without the lost ones the rest is decided, in the same transaction if the caller likes (CO-B1)."""
    tasks = held(backend, repository, topic, *"abc")
    run(backend, backend.repository("other").eject, topic, tasks[1])
    decisions = dict.fromkeys(tasks, TaskDecision.SUCCESS)
    with backend.begin() as tx:
        with pytest.raises(LostTaskError) as lost:
            repository.complete_many(tx, topic, decisions)
        kept = {task: it for task, it in decisions.items() if task not in lost.value.tasks}
        repository.complete_many(tx, topic, kept)

    assert list(states(backend, repository, topic).values()) == [SUCCEEDED, ACTIVE, SUCCEEDED]


def test_each_task_gets_its_own_decision(backend: Backend, repository: Repository, topic: str) -> None:
    """Different results in one call, equal ones not in a row, never touch each other (CO-08, CO-09)."""
    one, same = ValueError("one"), TaskDecision.success("same")
    decisions = [
        same,
        TaskDecision.success("same"),
        TaskDecision.success("other"),
        TaskDecision.filter("same"),
        TaskDecision.failure(one),
        TaskDecision.failure(one),
        TaskDecision.failure(ValueError("another")),
        same,
        TaskDecision.SUCCESS,
    ]
    tasks = held(backend, repository, topic, *"abcdefghi")
    pairs = dict(reversed(list(zip(tasks, decisions, strict=True))))
    run(backend, repository.complete_many, topic, pairs)

    assert outputs(backend, repository, topic) == [(it.state, it.output) for it in decisions]


@pytest.mark.parametrize(
    ("owner", "place", "expected"),
    [("me", "topic", ACTIVE), ("other", "topic", ACTIVE), ("me", "topic", READY), ("me", "other", ACTIVE)],
    ids=["held by me", "held by another", "released", "of another topic"],
)
def test_a_task_that_is_not_named_is_never_touched(
    *, backend: Backend, repository: Repository, topic: str, owner: str, place: str, expected: TaskState
) -> None:
    """Neighbours decided alike leave whatever lies between them alone (CO-08)."""
    run(backend, repository.initialize, "other")
    holder = backend.repository(owner)
    [before] = held(backend, repository, topic, "a")
    [between] = held(backend, holder, place, "b")
    [after] = held(backend, repository, topic, "c")
    if expected is READY:
        run(backend, holder.release, place, [between])
    complete(backend, repository, topic, [before, after], TaskDecision.success("done"))
    untouched = info(backend, repository, place, between)

    assert (untouched.state, untouched.output, untouched.completed) == (expected, None, None)


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize("size", [1000, 1001, 20_000])
def test_batches_of_any_size(backend: Backend, repository: Repository, topic: str, size: int) -> None:
    """Thousands of tasks are decided in one call, each in its own way (CO-07, CO-08)."""
    size = backend.many(size)
    tasks = held(backend, repository, topic, *map(str, range(size)))
    run(backend, repository.complete_many, topic, {it: TaskDecision.success(it.identifier) for it in tasks})

    done = backend.sql("SELECT identifier, output FROM task WHERE state = 6")
    assert {identifier: str(output) for identifier, output in done} == {str(name): str(name) for name in range(size)}


def test_decisions_may_be_made_when_they_are_asked_for(backend: Backend, repository: Repository, topic: str) -> None:
    """Any mapping will do, also one that gives another object each time (CO-07)."""

    class Late(Mapping[Task, TaskDecision]):
        def __init__(self, tasks: list[Task]) -> None:
            self._tasks = tasks

        def __getitem__(self, task: Task) -> TaskDecision:
            return TaskDecision.success(task.identifier)

        def __iter__(self) -> Iterator[Task]:
            return iter(self._tasks)

        def __len__(self) -> int:
            return len(self._tasks)

    run(backend, repository.complete_many, topic, Late(held(backend, repository, topic, "a", "b")))

    assert outputs(backend, repository, topic) == [(SUCCEEDED, "a"), (SUCCEEDED, "b")]


def test_a_merged_decision_is_stored_with_both_sides(backend: Backend, repository: Repository, topic: str) -> None:
    """Messages and traces of all problems are in the output (CO-10)."""
    [task] = held(backend, repository, topic, "a")
    decision = TaskDecision.success("half").merge(TaskDecision.failure(ValueError("no"))).include(KeyError("x"))
    complete(backend, repository, topic, task, decision)

    assert outputs(backend, repository, topic) == [(TaskState.FAILED, decision.output)]


@pytest.mark.parametrize("claim", Claim, ids=attrgetter("name"))
def test_a_nul_character_is_replaced_visibly(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """A message with a NUL is stored, and one can see where it was (CO-B4)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=claim)
        repository.complete(tx, topic, task, TaskDecision.failure("be\0fore"))
    output = info(backend, repository, topic, task).output

    assert output is not None
    assert (output[:2], output[-4:], output[2:-4].isprintable()) == ("be", "fore", True)
    assert output != "before"


def test_a_nul_character_in_an_exception_is_replaced(backend: Backend, repository: Repository, topic: str) -> None:
    """A trace with a NUL or a lone surrogate does not fail the batch (CO-B4)."""
    tasks = held(backend, repository, topic, *"ab")
    problems = [ValueError("be\0fore"), ValueError("be\ud800fore")]
    decisions = dict(zip(tasks, map(TaskDecision.failure, problems), strict=True))
    run(backend, repository.complete_many, topic, decisions)

    assert list(states(backend, repository, topic).values()) == [TaskState.FAILED] * 2


def test_a_nul_character_in_an_input_is_replaced(backend: Backend, repository: Repository, topic: str) -> None:
    """Input is text like output, and what push returns is what poll brings (CO-B4)."""
    [pushed] = push(backend, repository, topic, "a", input="be\0fore")
    [polled] = poll(backend, repository, topic)

    assert pushed.input is not None
    assert ("\0" in pushed.input, pushed.input == "before") == (False, False)
    assert polled.input == pushed.input


def test_the_completion_time_is_the_statements(backend: Backend, repository: Repository, topic: str) -> None:
    """It is not the beginning of a long transaction (CO-12, CO-B5)."""
    [task] = held(backend, repository, topic, "a")
    with backend.begin() as tx:
        repository.push(tx, topic, "begins the transaction")
        begun = now(backend)
        while now(backend) - begun < timedelta(milliseconds=5):
            pass
        later = now(backend)
        repository.complete(tx, topic, task)
    completed = info(backend, repository, topic, task).completed

    assert completed is not None
    assert completed >= later - timedelta(milliseconds=1)


@pytest.mark.parametrize("claim", Claim, ids=attrgetter("name"))
def test_completion_in_the_polling_transaction(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Both claims can be decided where they were made (CO-13)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=claim)
        repository.complete(tx, topic, task)

    assert outputs(backend, repository, topic) == [(SUCCEEDED, None)]


def test_completion_by_another_repository_of_the_owner(backend: Backend, repository: Repository, topic: str) -> None:
    """Owner and token count, not the object or connection that polled (CO-13)."""
    [task] = held(backend, repository, topic, "a")
    complete(backend, backend.repository("me", register=False), topic, Task(task.sequence, "a", token=task.token))

    assert outputs(backend, repository, topic) == [(SUCCEEDED, None)]


def test_a_second_completion_overwrites_the_first(backend: Backend, repository: Repository, topic: str) -> None:
    """After reset and poll, output and completion time are the new ones (CO-14)."""
    [task] = held(backend, repository, topic, "a")
    complete(backend, repository, topic, task, TaskDecision.failure("no"))
    first = info(backend, repository, topic, task)
    run(backend, repository.recreate, topic, Revivification.RESET, [task])
    complete(backend, repository, topic, poll(backend, repository, topic), TaskDecision.success("yes"))
    second = info(backend, repository, topic, task)

    assert (second.state, second.output) == (SUCCEEDED, "yes")
    assert first.completed is not None
    assert second.completed is not None
    assert first.completed <= second.completed


def test_a_rollback_undoes_a_completion(backend: Backend, repository: Repository, topic: str) -> None:
    """The task is held as before and can be decided again (CO-01)."""
    [task] = held(backend, repository, topic, "a")
    tx = backend.open()
    repository.complete(tx, topic, task, TaskDecision.failure("no"))
    backend.rollback(tx)
    backend.close(tx)
    before = outputs(backend, repository, topic)
    complete(backend, repository, topic, task)

    assert (before, outputs(backend, repository, topic)) == ([(ACTIVE, None)], [(SUCCEEDED, None)])


WRONG: dict[str, tuple[Any, Any]] = {
    "result instead of decision": ("topic", lambda task: {task: TaskResult.SUCCESS}),
    "nothing instead of decision": ("topic", lambda task: {task: None}),
    "text instead of decision": ("topic", lambda task: {task: "done"}),
    "sequence instead of task": ("topic", lambda task: {task.sequence: TaskDecision.SUCCESS}),
    "list instead of map": ("topic", lambda task: [task]),
    "empty topic": ("", lambda task: {task: TaskDecision.SUCCESS}),
    "over-long topic": ("t" * 251, lambda task: {task: TaskDecision.SUCCESS}),
}


def test_wrong_arguments_are_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """A wrong type or name is an error before any statement, and nothing is decided (CO-07)."""
    [task] = held(backend, repository, topic, "a")
    refused = set()
    with backend.begin() as tx:
        for name, (place, decisions) in WRONG.items():
            try:
                repository.complete_many(tx, place, decisions(task))
            except InvalidTaskError:
                refused.add(name)
        repository.push(tx, topic, "b")

    assert refused == set(WRONG)
    assert outputs(backend, repository, topic) == [(ACTIVE, None), (READY, None)]
