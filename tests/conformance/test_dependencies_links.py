"""Tasks that are there already are made to wait for others (S1-19 of BEHAVIOURS.md)."""

import pytest

from task_api import Dependency, OnAbort, Task, TaskDecision, TaskError, TaskRef, TaskState, TaskStateError
from tests.backends import Backend
from tests.backends.steps import poll, push, states
from tests.conformance.scenes import Repository, one_of_each, run
from tests.conformance.waiters import decide, few, link, push_after, ref, state_of, work_off

READY, SUSPENDED = TaskState.READY, TaskState.SUSPENDED


def test_ready_tasks_are_made_to_wait(backend: Backend, repository: Repository, topic: str) -> None:
    """For every pair, the one must wait for the other (S1-19)."""
    one, two, task, also = push(backend, repository, topic, "one", "two", "task", "also")
    run(backend, repository.depend, [*link(task, one, two), *link(also, task)])
    assert work_off(backend, repository, topic) == [one, two, task, also]


@few
def test_an_older_task_waits_for_a_newer_one(backend: Backend, repository: Repository, topic: str) -> None:
    """The order of pushes does not matter, and the older one keeps its place."""
    task, between, other = push(backend, repository, topic, "task", "between", "other")
    run(backend, repository.depend, link(task, other))
    assert poll(backend, repository, topic, 5) == [between, other]
    run(backend, repository.complete, topic, Task(other.sequence, "other", token=1))
    assert poll(backend, repository, topic, 5) == [task]


@few
@pytest.mark.parametrize(
    "state",
    sorted(set(TaskState) - {READY, SUSPENDED}),
    ids=lambda state: state.name,
)
def test_what_is_held_or_decided_does_not_wait(
    backend: Backend, repository: Repository, topic: str, state: TaskState
) -> None:
    """It is refused, nothing of the call is done, and the transaction stays usable (S1-19, P7)."""
    good, other = push(backend, repository, topic, "good", "other")
    wrong = one_of_each(backend, repository, topic, [state])[state]
    before = states(backend, repository, topic)
    with backend.begin() as tx:
        with pytest.raises(TaskStateError) as caught:
            repository.depend(tx, [*link(good, other), *link(wrong, other)])
        assert caught.value.tasks == {wrong}
        assert repository.predecessors(tx, ref(good)) == []
    assert states(backend, repository, topic) == before


@few
def test_a_missing_task_does_not_wait(backend: Backend, repository: Repository, topic: str) -> None:
    """One that is not there can't, which is told (S1-B3)."""
    [other] = push(backend, repository, topic, "other")
    with backend.begin() as tx:
        for missing in (TaskRef(topic, other.sequence + 1), TaskRef("elsewhere", other.sequence)):
            with pytest.raises(TaskStateError, match=str(missing.sequence)):
                repository.depend(tx, [Dependency(missing, ref(other))])
        assert issubclass(TaskStateError, TaskError)


@few
def test_a_link_is_made_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Given twice, or there already, it counts once; signals can't be too many (S1-B3, S1-B5)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other, other, ref(other))
    run(backend, repository.depend, link(task, other) * 2)
    with backend.begin() as tx:
        assert repository.predecessors(tx, ref(task)) == [ref(other)]
    assert work_off(backend, repository, topic) == [other, task]
    again = push_after(backend, repository, topic, "again", other, task, other)
    assert state_of(backend, repository, topic, again) == [READY]


@few
@pytest.mark.parametrize("decision", [TaskDecision.SUCCESS, TaskDecision.FAILURE], ids=["done", "failed"])
def test_a_link_that_is_said_again_later_holds_nothing_up(
    backend: Backend, repository: Repository, topic: str, decision: TaskDecision
) -> None:
    """What became of the other is known already, and the task stays READY (P1, S1-B3)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other, on_abort=OnAbort.RUN)
    decide(backend, repository, topic, other, decision=decision)
    run(backend, repository.depend, link(task, other))
    assert state_of(backend, repository, topic, task) == [READY]
    assert work_off(backend, repository, topic) == [task]


@few
def test_what_waits_is_given_more_to_wait_for(backend: Backend, repository: Repository, topic: str) -> None:
    """It waits for the old and the new (S1-19)."""
    one, two, three = push(backend, repository, topic, *"123")
    task = push_after(backend, repository, topic, "task", one)
    run(backend, repository.depend, link(task, two))
    decide(backend, repository, topic, one)
    run(backend, repository.depend, link(task, three))
    for other in (two, three):
        assert state_of(backend, repository, topic, task) == [SUSPENDED]
        decide(backend, repository, topic, other)
    assert state_of(backend, repository, topic, task) == [READY]


@few
def test_no_dependencies_are_no_work(backend: Backend, repository: Repository, topic: str) -> None:
    """An empty call changes nothing, an iterator will do."""
    one, two = push(backend, repository, topic, "one", "two")
    run(backend, repository.depend, [])
    assert state_of(backend, repository, topic, one, two) == [READY] * 2
    run(backend, repository.depend, iter(link(two, one)))
    assert state_of(backend, repository, topic, one, two) == [READY, SUSPENDED]
