"""Tasks that wait for others, and for their time or their junction as well (section 23 of BEHAVIOURS.md)."""

import pytest

from task_api import Junction, Revivification, Task, TaskState, TaskStateError
from tests.backends import Backend
from tests.backends.steps import complete, push
from tests.conformance.scenes import Repository, now, run, set_time
from tests.conformance.waiters import HOUR, decide, few, link, push_after, state_of

READY, SUSPENDED = TaskState.READY, TaskState.SUSPENDED


@few
@pytest.mark.parametrize("linked", ["pushed", "depend"])
def test_a_due_task_waits_for_its_time_and_for_the_others(
    backend: Backend, repository: Repository, topic: str, linked: str
) -> None:
    """The others done first: it stays SUSPENDED until promoted (S1-14)."""
    [other] = push(backend, repository, topic, "other")
    if linked == "pushed":
        task = push_after(backend, repository, topic, "task", other, due=HOUR)
    else:
        [task] = push(backend, repository, topic, "task", due=HOUR)
        run(backend, repository.depend, link(task, other))
    decide(backend, repository, topic, other)
    assert run(backend, repository.promote, topic) == 0
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    set_time(backend, task, now(backend) - HOUR, "due")
    assert run(backend, repository.next_due, topic) is not None
    assert run(backend, repository.promote, topic) == 1
    assert state_of(backend, repository, topic, task) == [READY]


@few
@pytest.mark.parametrize("linked", ["pushed", "depend"])
def test_a_task_that_is_due_before_the_others_are_done(
    backend: Backend, repository: Repository, topic: str, linked: str
) -> None:
    """Its time come first: promoting passes it by, and the last decision makes it READY at once (S1-14)."""
    [other] = push(backend, repository, topic, "other")
    if linked == "pushed":
        task = push_after(backend, repository, topic, "task", other, due=-HOUR)
    else:
        [task] = push(backend, repository, topic, "task", due=-HOUR)
        run(backend, repository.depend, link(task, other))
    assert run(backend, repository.next_due, topic) is None
    assert run(backend, repository.promote, topic) == 0
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    decide(backend, repository, topic, other)
    assert state_of(backend, repository, topic, task) == [READY]


@few
@pytest.mark.parametrize("linked", ["pushed", "depend"])
@pytest.mark.parametrize("first", ["junction", "other"])
@pytest.mark.parametrize("junction", Junction, ids=lambda junction: junction.name)
def test_a_suspended_task_waits_for_its_junction_and_for_the_others(
    backend: Backend, repository: Repository, topic: str, *, linked: str, first: str, junction: Junction
) -> None:
    """In any order (S1-22)."""
    [other] = push(backend, repository, topic, "other")
    if linked == "pushed":
        task = push_after(backend, repository, topic, "task", other, suspended=True)
    else:
        [task] = push(backend, repository, topic, "task", suspended=True)
        run(backend, repository.depend, link(task, other))
    if first == "other":
        decide(backend, repository, topic, other)
    else:
        run(backend, repository.junction, topic, [{"task"}], junction=junction)
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    if first == "other":
        run(backend, repository.junction, topic, [{"task"}], junction=junction)
    else:
        decide(backend, repository, topic, other)
    assert state_of(backend, repository, topic, task) == [READY]


@few
def test_nothing_lets_a_task_run_early(backend: Backend, repository: Repository, topic: str) -> None:
    """Neither promote, junction, eject nor reset: all that it waits for must be done (S1-03, S1-14)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other)
    with backend.begin() as tx:
        repository.promote(tx, topic)
        for junction in Junction:
            repository.junction(tx, topic, [{"task"}], junction=junction)
        repository.recreate(tx, topic, Revivification.RESET, [task])
        repository.recreate_state(tx, topic, Revivification.RESET, SUSPENDED, size=9)
        with pytest.raises(TaskStateError):
            repository.eject(tx, topic, task, states=[SUSPENDED])
        assert repository.poll_many(tx, topic, 9) == [other]
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    complete(backend, repository, topic, Task(other.sequence, "other", token=1))
    assert state_of(backend, repository, topic, task) == [READY]
