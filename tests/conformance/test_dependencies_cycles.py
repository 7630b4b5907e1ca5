"""Tasks that would wait for each other are refused (S1-B5 of BEHAVIOURS.md)."""

from itertools import pairwise

import pytest

from task_api import Dependency, DependencyCycleError, Revivification, Task, TaskDecision, TaskError, TaskState, chain
from tests.backends import Backend
from tests.backends.steps import push, states
from tests.conformance.scenes import Repository, run
from tests.conformance.waiters import decide, link, others_topic, push_after, ref, state_of, work_off

READY, SUSPENDED = TaskState.READY, TaskState.SUSPENDED
pytestmark = pytest.mark.kinds("driver", "plain")


def refuse(backend: Backend, repository: Repository, topic: str, links: list[Dependency]) -> DependencyCycleError:
    """Insist that links are refused, that nothing has changed, and that the transaction is as good as before."""
    before = states(backend, repository, topic)
    involved = [dependency.run for dependency in links]
    with backend.begin() as tx:
        earlier = [repository.predecessors(tx, each) for each in involved]
        with pytest.raises(DependencyCycleError) as caught:
            repository.depend(tx, links)
        assert [repository.predecessors(tx, each) for each in involved] == earlier
        probe = repository.push(tx, topic, "probe")
    assert states(backend, repository, topic) == {**before, probe.sequence: READY}
    run(backend, repository.purge, topic, states=[READY], first=probe.sequence)
    return caught.value


@pytest.mark.kinds("connection", "session", "driver", "plain")
def test_a_task_does_not_wait_for_itself(backend: Backend, repository: Repository, topic: str) -> None:
    """It is a cycle of one (S1-B5)."""
    [task] = push(backend, repository, topic, "task")
    error = refuse(backend, repository, topic, link(task, task))
    assert error.tasks == (ref(task),)
    assert isinstance(error, TaskError)
    assert f"topic {task.sequence}" in str(error)


def test_two_tasks_do_not_wait_for_each_other(backend: Backend, repository: Repository, topic: str) -> None:
    """In one call, or in two (S1-B5)."""
    one, two = push(backend, repository, topic, "one", "two")
    error = refuse(backend, repository, topic, [*link(one, two), *link(two, one)])
    assert set(error.tasks) == {ref(one), ref(two)}
    run(backend, repository.depend, link(one, two))
    error = refuse(backend, repository, topic, link(two, one))
    assert set(error.tasks) == {ref(one), ref(two)}
    assert work_off(backend, repository, topic) == [two, one]


def test_a_long_cycle_is_found(backend: Backend, repository: Repository, topic: str) -> None:
    """From the end of a chain to its beginning; good links of the call are not made either (S1-B5)."""
    tasks = run(backend, repository.push_graph, topic, chain(*map(str, range(30))))
    [good] = push(backend, repository, topic, "good")
    error = refuse(backend, repository, topic, [*link(good, tasks[3]), *link(tasks[0], tasks[-1])])
    places = {ref(task): place for place, task in enumerate(tasks)}
    cycle = [places[each] for each in error.tasks]
    assert sorted(cycle) == list(range(30))
    assert all((place - following) % 30 == 1 for place, following in pairwise(cycle)), "each waits for the next"
    assert "and 25 more" in str(error)
    assert state_of(backend, repository, topic, good) == [READY]


def test_a_cycle_over_several_topics_is_found(backend: Backend, repository: Repository, topic: str) -> None:
    """And through links that are made by the same call (S1-B5)."""
    other = others_topic(backend, repository)
    [near, loose] = push(backend, repository, topic, "near", "loose")
    far = push_after(backend, repository, other, "far", ref(near))
    links = [Dependency(ref(near), ref(loose)), Dependency(ref(loose), ref(far, other))]
    error = refuse(backend, repository, topic, links)
    assert set(error.tasks) == {ref(near), ref(loose), ref(far, other)}


def test_shared_predecessors_are_no_cycle(backend: Backend, repository: Repository, topic: str) -> None:
    """A diamond is a graph like others (S1-B5)."""
    tasks = push(backend, repository, topic, *"abcd")
    a, b, c, d = tasks
    run(backend, repository.depend, [*link(b, a), *link(c, a), *link(d, b, c, a)])
    assert work_off(backend, repository, topic) == [a, b, c, d]


def test_what_is_done_closes_no_cycle(backend: Backend, repository: Repository, topic: str) -> None:
    """A link whose signal has come is not waited for any more (S1-B5)."""
    first, task = run(backend, repository.push_graph, topic, chain("first", "task"))
    decide(backend, repository, topic, first)
    run(backend, repository.recreate, topic, Revivification.RESET, [first])
    run(backend, repository.depend, link(first, task))
    assert state_of(backend, repository, topic, first, task) == [SUSPENDED, READY]
    assert work_off(backend, repository, topic) == [task, first]


def test_reviving_closes_no_cycle(backend: Backend, repository: Repository, topic: str) -> None:
    """A link that a failure has closed may open again, so that it counts (S1-B5)."""
    first, task = run(backend, repository.push_graph, topic, chain("first", "task"))
    decide(backend, repository, topic, first, decision=TaskDecision.FAILURE)
    for each in (task, first):
        run(backend, repository.recreate, topic, Revivification.RESET, [each])
    with backend.begin() as tx:
        try:
            repository.depend(tx, link(first, task))
        except DependencyCycleError:
            return
    decide(backend, repository, topic, task, decision=TaskDecision.FAILURE)
    run(backend, repository.recreate, topic, Revivification.RESET, [first, task])
    assert READY in state_of(backend, repository, topic, first, task)


def test_a_copy_takes_the_place_of_its_original_in_a_cycle(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Links move with it (S1-B5)."""
    first, task = run(backend, repository.push_graph, topic, chain("first", "task"))
    copy: Task = run(backend, repository.recreate, topic, Revivification.APPEND, [task])[task]
    error = refuse(backend, repository, topic, link(first, copy))
    assert set(error.tasks) == {ref(first), ref(copy)}
