"""Tasks that wait for others, and are revived, or wait for such that are (section 23 of BEHAVIOURS.md)."""

import pytest

from task_api import OnAbort, Revivification, Task, TaskDecision, TaskResult, TaskState, chain
from tests.backends import Backend
from tests.backends.steps import drive, info, poll, push
from tests.conformance.scenes import Repository, run
from tests.conformance.waiters import decide, others_topic, push_after, ref, state_of, work_off

READY, SUSPENDED, FAILED, SUCCEEDED = TaskState.READY, TaskState.SUSPENDED, TaskState.FAILED, TaskState.SUCCEEDED
RECREATED, REDUNDANT = TaskState.RECREATED, TaskState.REDUNDANT
FAILURE = TaskDecision.FAILURE
RESET = Revivification.RESET
pytestmark = pytest.mark.kinds("driver", "plain")
each_way = pytest.mark.parametrize("way", Revivification, ids=lambda way: way.name)
by_copy = pytest.mark.parametrize("way", sorted(set(Revivification) - {RESET}, key=str), ids=lambda way: way.name)


@each_way
def test_what_failed_together_is_revived_together(
    backend: Backend, repository: Repository, topic: str, way: Revivification
) -> None:
    """In one call or one after the other: each waits again for the one before it (S1-15)."""
    tasks = run(backend, repository.push_graph, topic, chain(*"abcd"))
    decide(backend, repository, topic, tasks[0], decision=FAILURE)
    assert state_of(backend, repository, topic, *tasks) == [FAILED] * 4

    revived = run(backend, repository.recreate, topic, way, tasks)
    copies = [revived[task] for task in tasks]

    assert state_of(backend, repository, topic, *copies) == [READY, SUSPENDED, SUSPENDED, SUSPENDED]
    assert work_off(backend, repository, topic, 9) == copies
    with backend.begin() as tx:
        assert [repository.predecessors(tx, ref(copy)) for copy in copies[1:]] == [[ref(copy)] for copy in copies[:-1]]
        if way is not RESET:
            assert [repository.predecessors(tx, ref(task)) for task in tasks] == [[]] * 4


@each_way
def test_what_failed_is_revived_one_after_the_other(
    backend: Backend, repository: Repository, topic: str, way: Revivification
) -> None:
    """The cause first: those behind it stay FAILED until they are revived, and wait then (S1-15)."""
    other = others_topic(backend, repository)
    [first] = push(backend, repository, other, "first")
    task = push_after(backend, repository, topic, "task", ref(first, other))
    decide(backend, repository, other, first, decision=FAILURE)

    first = run(backend, repository.recreate, other, way, [first])[first]
    assert state_of(backend, repository, topic, task) == [FAILED]
    task = run(backend, repository.recreate, topic, way, [task])[task]
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    decide(backend, repository, other, first)
    [polled] = poll(backend, repository, topic)
    assert (polled, polled.failed) == (task, 0)


@each_way
def test_what_is_revived_after_the_cause_is_done_runs(
    backend: Backend, repository: Repository, topic: str, way: Revivification
) -> None:
    """The signal came while it was FAILED (S1-15)."""
    [first] = push(backend, repository, topic, "first")
    task = push_after(backend, repository, topic, "task", first)
    decide(backend, repository, topic, first, decision=FAILURE)
    first = run(backend, repository.recreate, topic, way, [first])[first]
    decide(backend, repository, topic, first)
    assert state_of(backend, repository, topic, task) == [FAILED]
    task = run(backend, repository.recreate, topic, way, [task])[task]
    [polled] = poll(backend, repository, topic)
    assert (polled, polled.failed) == (task, 0)


def test_a_second_failure_fails_again(backend: Backend, repository: Repository, topic: str) -> None:
    """With the new cause, and as often as it is revived (S1-15)."""
    first, task = run(backend, repository.push_graph, topic, chain("first", "task"))
    for reason in ("one", "two"):
        decide(backend, repository, topic, first, decision=TaskDecision.failure(reason))
        stored = info(backend, repository, topic, task)
        assert (stored.state, str(stored.output).rpartition(": ")[2]) == (FAILED, reason)
        assert len(run(backend, repository.recreate_state, topic, RESET, FAILED, size=9)) == 2
    assert work_off(backend, repository, topic) == [first, task]


def test_an_operator_may_run_a_task_despite_its_cause(backend: Backend, repository: Repository, topic: str) -> None:
    """Revived alone, it runs, and is told that the other failed (S1-06)."""
    first, task = run(backend, repository.push_graph, topic, chain("first", "task"))
    decide(backend, repository, topic, first, decision=FAILURE)
    run(backend, repository.recreate, topic, RESET, [task])
    [polled] = poll(backend, repository, topic)
    assert (polled, polled.failed) == (task, 1)


def test_what_ran_and_failed_by_itself_does_not_wait_again(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """What it waited for was done, whatever is revived meanwhile (S1-19)."""
    first, task = run(backend, repository.push_graph, topic, chain("first", "task"))
    decide(backend, repository, topic, first)
    decide(backend, repository, topic, task, decision=FAILURE)
    run(backend, repository.recreate, topic, RESET, [first])
    run(backend, repository.recreate, topic, RESET, [task])
    assert state_of(backend, repository, topic, first, task) == [READY, READY]


def test_what_runs_despite_failures_is_left_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """One that counted a failure as done does not wait for the revived one (S1-15)."""
    one, two = push(backend, repository, topic, "one", "two")
    task = push_after(backend, repository, topic, "task", one, two, on_abort=OnAbort.RUN)
    decide(backend, repository, topic, one, decision=FAILURE)
    run(backend, repository.recreate, topic, RESET, [one])
    decide(backend, repository, topic, two)
    assert state_of(backend, repository, topic, one, task) == [READY, READY]


@each_way
@pytest.mark.parametrize("state", [TaskState.EXPIRED, SUSPENDED, FAILED], ids=lambda state: state.name)
def test_who_waits_for_a_task_waits_for_its_copy(
    backend: Backend, repository: Repository, topic: str, *, way: Revivification, state: TaskState
) -> None:
    """Revived from any state while it is waited for, also in another topic (S1-03, S1-15)."""
    other = others_topic(backend, repository)
    [first] = push(backend, repository, topic, "first")
    task = push_after(backend, repository, other, "task", ref(first), on_abort=OnAbort.WAIT)
    drive(backend, repository, topic, first, state)
    copy = run(backend, repository.recreate, topic, way, [first])[first]
    with backend.begin() as tx:
        assert repository.predecessors(tx, ref(task, other)) == [ref(copy)]
        assert repository.dependents(tx, ref(copy)) == [ref(task, other)]
    assert state_of(backend, repository, other, task) == [SUSPENDED]
    decide(backend, repository, topic, copy)
    assert state_of(backend, repository, other, task) == [READY]


@by_copy
def test_the_copy_of_a_task_that_waits_waits(
    backend: Backend, repository: Repository, topic: str, way: Revivification
) -> None:
    """In the place of the original, which is told nothing any more (S1-14)."""
    one, two = push(backend, repository, topic, "one", "two")
    task = push_after(backend, repository, topic, "task", one, two, on_abort=OnAbort.RUN)
    behind = push_after(backend, repository, topic, "behind", task)
    decide(backend, repository, topic, one, decision=FAILURE)
    copy = run(backend, repository.recreate, topic, way, [task])[task]
    assert state_of(backend, repository, topic, task, copy, behind) == [RECREATED, SUSPENDED, SUSPENDED]
    with backend.begin() as tx:
        assert repository.predecessors(tx, ref(copy)) == [ref(one), ref(two)]
        assert repository.predecessors(tx, ref(task)) == []
    decide(backend, repository, topic, two)
    assert state_of(backend, repository, topic, task, copy, behind) == [RECREATED, READY, SUSPENDED]
    [polled] = poll(backend, repository, topic)
    assert (polled, polled.failed) == (copy, 1)
    run(backend, repository.complete, topic, polled)
    assert state_of(backend, repository, topic, behind) == [READY]


@pytest.mark.parametrize("way", [Revivification.REPLACE, Revivification.SUPERSEDE], ids=lambda way: way.name)
def test_who_waits_for_a_copy_that_gives_way_fails(
    backend: Backend, repository: Repository, topic: str, way: Revivification
) -> None:
    """Of several of one identifier the last one stays; the others are redundant (S1-17)."""
    old, new = push(backend, repository, topic, "same", "same")
    first = push_after(backend, repository, topic, "first", old, on_abort=OnAbort.WAIT)
    last = push_after(backend, repository, topic, "last", new, on_abort=OnAbort.WAIT)
    cascading = push_after(backend, repository, topic, "cascading", old)
    decide(backend, repository, topic, old, new, decision=FAILURE)
    copies = run(backend, repository.recreate, topic, way, [old, new])
    assert state_of(backend, repository, topic, copies[old], copies[new]) == [REDUNDANT, READY]
    decide(backend, repository, topic, copies[new])
    assert state_of(backend, repository, topic, first, last, cascading) == [SUSPENDED, READY, FAILED]


def test_reviving_by_replacement_tells_who_waits_for_the_replaced(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Another task of the identifier that gives way is never done (S1-17)."""
    failed, other = push(backend, repository, topic, "same", "same")
    task = push_after(backend, repository, topic, "task", other)
    decide(backend, repository, topic, failed, decision=FAILURE)
    run(backend, repository.recreate, topic, Revivification.REPLACE, [failed])
    assert state_of(backend, repository, topic, other, task) == [REDUNDANT, FAILED]


# Other results -------------------------------------------------------------------------------------------------------


def _reassign(
    backend: Backend, repository: Repository, topic: str, task: Task, result: TaskResult, *, bulk: bool
) -> None:
    state = info(backend, repository, topic, task).state
    place = task.sequence
    if bulk:
        assert run(backend, repository.reassign_all, topic, state, result, first=place, last=place) == 1
    else:
        run(backend, repository.reassign, topic, {task: result})


both_calls = pytest.mark.parametrize("bulk", [False, True], ids=["reassign", "reassign_all"])


@both_calls
@pytest.mark.parametrize("result", [TaskResult.SUCCESS, TaskResult.FILTER], ids=lambda result: result.name)
def test_a_better_result_releases_who_waits(
    backend: Backend, repository: Repository, topic: str, *, result: TaskResult, bulk: bool
) -> None:
    """Those who failed for it run when they are revived (S1-15)."""
    [first] = push(backend, repository, topic, "first")
    waiting = push_after(backend, repository, topic, "waiting", first, on_abort=OnAbort.WAIT)
    failed = push_after(backend, repository, topic, "failed", first)
    decide(backend, repository, topic, first, decision=FAILURE)
    _reassign(backend, repository, topic, first, result, bulk=bulk)
    assert state_of(backend, repository, topic, waiting, failed) == [READY, FAILED]
    run(backend, repository.recreate, topic, RESET, [failed])
    tasks = poll(backend, repository, topic, 9)
    assert [(task, task.failed) for task in tasks] == [(waiting, 0), (failed, 0)]


@both_calls
def test_a_result_taken_back_is_waited_for(*, backend: Backend, repository: Repository, topic: str, bulk: bool) -> None:
    """Suspended instead of failed, it is undecided again (S1-15)."""
    first, task = run(backend, repository.push_graph, topic, chain("first", "task"))
    decide(backend, repository, topic, first, decision=FAILURE)
    _reassign(backend, repository, topic, first, TaskResult.SUSPENSION, bulk=bulk)
    run(backend, repository.recreate, topic, RESET, [task])
    assert state_of(backend, repository, topic, first, task) == [SUSPENDED] * 2
    run(backend, repository.junction, topic, [{"first"}])
    assert work_off(backend, repository, topic) == [first, task]


@both_calls
@pytest.mark.parametrize("result", [TaskResult.SUCCESS, TaskResult.FAILURE], ids=lambda result: result.name)
def test_a_task_that_waits_may_be_given_a_result(
    backend: Backend, repository: Repository, topic: str, *, result: TaskResult, bulk: bool
) -> None:
    """Those who wait for it learn it, and what it waited for changes nothing any more (S1-19)."""
    first, task, behind = run(backend, repository.push_graph, topic, chain("first", "task", "behind"))
    _reassign(backend, repository, topic, task, result, bulk=bulk)
    good = result is TaskResult.SUCCESS
    assert state_of(backend, repository, topic, task, behind) == [result.state, READY if good else FAILED]
    decide(backend, repository, topic, first)
    assert state_of(backend, repository, topic, task) == [result.state]
    if not good:
        run(backend, repository.recreate, topic, RESET, [task, behind])
        assert state_of(backend, repository, topic, task, behind) == [READY, SUSPENDED]


@both_calls
def test_a_worse_result_comes_too_late(*, backend: Backend, repository: Repository, topic: str, bulk: bool) -> None:
    """Who waited has had its signal (S1-19)."""
    one, two = push(backend, repository, topic, "one", "two")
    task = push_after(backend, repository, topic, "task", one, two)
    decide(backend, repository, topic, one)
    _reassign(backend, repository, topic, one, TaskResult.FAILURE, bulk=bulk)
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    decide(backend, repository, topic, two)
    assert state_of(backend, repository, topic, task) == [READY]
