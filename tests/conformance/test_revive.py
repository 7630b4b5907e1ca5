"""Reviving: recreate and reset, by name and by state (section 6 of BEHAVIOURS.md)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from task_api import (
    REVIVABLE,
    InvalidTaskError,
    Revivification,
    Task,
    TaskDecision,
    TaskInfo,
    TaskResult,
    TaskState,
    TaskStateError,
)
from tests.backends import Backend
from tests.backends.steps import complete, drive, info, poll, push, states
from tests.conformance.scenes import TIMEOUT, Repository, await_lock, one_of_each, run

SOURCES = sorted(REVIVABLE)
UNREVIVABLE = sorted(set(TaskState) - REVIVABLE)
REPLACING = [Revivification.REPLACE, Revivification.SUPERSEDE]
RECREATING = [Revivification.APPEND, *REPLACING]

recreating = pytest.mark.parametrize("mode", RECREATING, ids=lambda mode: mode.name)
every_mode = pytest.mark.parametrize("mode", Revivification, ids=lambda mode: mode.name)


def finished(
    backend: Backend, repository: Repository, topic: str, *identifiers: str, decision: TaskDecision
) -> list[Task]:
    """Tasks that were polled and decided alike."""
    pushed = push(backend, repository, topic, *identifiers, input="payload", reference="batch 7")
    for task in pushed:
        drive(backend, repository, topic, task, TaskState.ACTIVE)
    held = [info(backend, repository, topic, task) for task in pushed]
    complete(backend, repository, topic, held, decision)
    return pushed


@recreating
def test_recreate_works_from_every_source(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """Each source becomes RECREATED and maps to a new READY task (RE-01, RE-03, RE-04, RE-06)."""
    sources = one_of_each(backend, repository, topic, SOURCES)

    revived = run(backend, repository.recreate, topic, mode, sources.values())

    assert list(revived) == list(sources.values())
    assert [new.identifier for new in revived.values()] == [state.name for state in sources]
    found = states(backend, repository, topic)
    assert {found[old.sequence] for old in revived} == {TaskState.RECREATED}
    assert {found[new.sequence] for new in revived.values()} == {TaskState.READY}
    assert sorted(revived.values()) == list(revived.values())
    assert min(revived.values()) > max(revived)


def test_reset_works_from_every_source(backend: Backend, repository: Repository, topic: str) -> None:
    """Each source becomes READY at its sequence, its descent raised, and maps to itself (RE-01, RE-08)."""
    sources = one_of_each(backend, repository, topic, SOURCES)

    revived = run(backend, repository.recreate, topic, Revivification.RESET, sources.values())

    assert list(revived) == list(revived.values()) == list(sources.values())
    found = [info(backend, repository, topic, task) for task in sources.values()]
    assert [(task.state, task.descent) for task in found] == [(TaskState.READY, source) for source in sources]


def test_every_result_names_a_source(backend: Backend, repository: Repository, topic: str) -> None:
    """What a decision made of a task is the state to revive it by (RE-01)."""
    for result in TaskResult:
        (task,) = finished(backend, repository, topic, result.name, decision=TaskDecision(result))
        revived = run(backend, repository.recreate_state, topic, Revivification.RESET, result.state)
        assert revived == {task: task}


@every_mode
def test_unrevivable_tasks_refuse_the_whole_call(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """READY, ACTIVE, RECREATED, REDUNDANT and missing tasks are named, none changes (RE-03, RE-13)."""
    tasks = one_of_each(backend, repository, topic)
    wrong = {*(tasks[state] for state in UNREVIVABLE), Task(999_999, "missing")}
    before = states(backend, repository, topic)

    with backend.begin() as tx:
        with pytest.raises(TaskStateError, match="ACTIVE") as caught:
            repository.recreate(tx, topic, mode, [*tasks.values(), *wrong])
        repository.push(tx, topic, "the transaction goes on")

    assert caught.value.tasks == wrong
    after = states(backend, repository, topic)
    assert after.popitem()[1] is TaskState.READY
    assert after == before


def test_tasks_of_another_topic_are_missing(backend: Backend, repository: Repository, topic: str) -> None:
    """A task is revived in its own topic only (RE-03, TO-03)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.SUCCESS)
    run(backend, repository.initialize, "other")

    with pytest.raises(TaskStateError) as caught:
        run(backend, repository.recreate, "other", Revivification.RESET, [task])

    assert caught.value.tasks == {task}


def test_by_state_takes_the_oldest_of_that_state_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """One task by default, else up to the size, ascending, in exactly that state and topic (RE-02)."""
    failed = finished(backend, repository, topic, "a", "b", "c", decision=TaskDecision.FAILURE)
    finished(backend, repository, topic, "d", decision=TaskDecision.SUCCESS)
    run(backend, repository.initialize, "other")
    finished(backend, repository, "other", "e", decision=TaskDecision.FAILURE)

    first = run(backend, repository.recreate_state, topic, Revivification.RESET, TaskState.FAILED)
    rest = run(backend, repository.recreate_state, topic, Revivification.RESET, TaskState.FAILED, size=10)

    assert [list(first), list(rest)] == [failed[:1], failed[1:]]


def test_by_state_keeps_to_an_inclusive_range(backend: Backend, repository: Repository, topic: str) -> None:
    """Both bounds belong to the range (RE-02)."""
    failed = finished(backend, repository, topic, *"abcde", decision=TaskDecision.FAILURE)
    bounds = {"first": failed[1].sequence, "last": failed[3].sequence}

    revived = run(backend, repository.recreate_state, topic, Revivification.RESET, TaskState.FAILED, size=10, **bounds)

    assert list(revived) == failed[1:4]


@recreating
def test_recreate_keeps_the_old_record(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """The old task keeps output, owner and completion, and its descent is the state it left (RE-04)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.failure("boom"))
    before = info(backend, repository, topic, task)

    run(backend, repository.recreate, topic, mode, [task])

    after = info(backend, repository, topic, task)
    assert (after.state, after.descent) == (TaskState.RECREATED, TaskState.FAILED)
    assert kept(after) == kept(before)
    assert (after.output, after.owner) == ("boom", "me")


def kept(task: TaskInfo) -> tuple[object, ...]:
    """What recreating leaves alone."""
    return task.output, task.owner, task.completed, task.polled, task.created, task.input, task.attempt


@recreating
def test_recreate_copies_the_stored_row(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """Input and reference come from the database, not from the object passed (RE-B1)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.SUCCESS)

    revived = run(backend, repository.recreate, topic, mode, [Task(task.sequence, "another name")])

    new = info(backend, repository, topic, revived[task])
    assert (new.identifier, new.input, new.reference) == ("a", "payload", "batch 7")
    assert (revived[task].identifier, revived[task].input) == ("a", "payload")


@recreating
def test_recreated_task_starts_anew_and_knows_its_origin(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """It has no attempts, owner, output or completion, and names where it came from (RE-04, RE-B4)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.failure("boom"))

    revived = run(backend, repository.recreate, topic, mode, [task])

    new = info(backend, repository, topic, revived[task])
    assert (new.attempt, new.origin, new.descent) == (0, task.sequence, TaskState.READY)
    assert (new.owner, new.output, new.completed, new.polled) == (None, None, None, None)
    assert [polled.attempt for polled in poll(backend, repository, topic)] == [1]


@pytest.mark.parametrize(
    ("mode", "ready", "succeeded"),
    [
        (Revivification.APPEND, TaskState.READY, TaskState.SUCCEEDED),
        (Revivification.SUPERSEDE, TaskState.REDUNDANT, TaskState.SUCCEEDED),
        (Revivification.REPLACE, TaskState.REDUNDANT, TaskState.REDUNDANT),
        (Revivification.RESET, TaskState.READY, TaskState.SUCCEEDED),
    ],
    ids=lambda value: value.name,
)
def test_effect_on_newer_tasks_of_the_identifier(
    backend: Backend,
    repository: Repository,
    topic: str,
    *,
    mode: Revivification,
    ready: TaskState,
    succeeded: TaskState,
) -> None:
    """The copy is pushed with the mode's insertion; REPLACE hits newer successes (RE-05, RE-08, RE-B3)."""
    (failed,) = finished(backend, repository, topic, "a", decision=TaskDecision.FAILURE)
    (newer,) = finished(backend, repository, topic, "a", decision=TaskDecision.SUCCESS)
    waiting, other = push(backend, repository, topic, "a", "other")

    run(backend, repository.recreate, topic, mode, [failed])

    found = states(backend, repository, topic)
    assert [found[task.sequence] for task in (newer, waiting)] == [succeeded, ready]
    assert found[other.sequence] is TaskState.READY


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Revivification.APPEND, [TaskState.READY, TaskState.READY]),
        (Revivification.REPLACE, [TaskState.REDUNDANT, TaskState.READY]),
        (Revivification.SUPERSEDE, [TaskState.REDUNDANT, TaskState.READY]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_two_tasks_of_one_identifier_at_once(
    backend: Backend, repository: Repository, topic: str, mode: Revivification, expected: list[TaskState]
) -> None:
    """Each old task maps to its own new one; of replacing ones only the last is READY (RE-06, RE-07)."""
    tasks = finished(backend, repository, topic, "a", "a", decision=TaskDecision.FAILURE)

    revived = run(backend, repository.recreate, topic, mode, tasks)

    found = states(backend, repository, topic)
    assert [found[old.sequence] for old in tasks] == [TaskState.RECREATED] * 2
    assert [found[revived[old].sequence] for old in tasks] == expected
    assert [info(backend, repository, topic, revived[old]).origin for old in tasks] == [old.sequence for old in tasks]


def test_reset_task_keeps_its_place(backend: Backend, repository: Repository, topic: str) -> None:
    """A poll returns it before younger ones (RE-09)."""
    (old,) = finished(backend, repository, topic, "old", decision=TaskDecision.FAILURE)
    push(backend, repository, topic, "young")
    complete(backend, repository, topic, poll(backend, repository, topic))
    (younger,) = push(backend, repository, topic, "younger")

    run(backend, repository.recreate, topic, Revivification.RESET, [old])

    assert poll(backend, repository, topic, size=2) == [old, younger]


def test_reset_clears_what_the_last_run_left(backend: Backend, repository: Repository, topic: str) -> None:
    """Completion, output, lease and due time go; owner, input and reference stay (RE-08, ST-B3)."""
    (task,) = push(backend, repository, topic, "a", input="payload", reference="batch 7")
    later = TaskDecision.retry(timedelta(hours=1), "boom")
    complete(backend, repository, topic, poll(backend, repository, topic, lease=timedelta(minutes=5)), later)

    run(backend, repository.recreate, topic, Revivification.RESET, [task])

    found = info(backend, repository, topic, task)
    assert (found.completed, found.output, found.lease, found.due) == (None, None, None, None)
    assert (found.input, found.reference) == ("payload", "batch 7")


def test_descent_accumulates_over_resets(backend: Backend, repository: Repository, topic: str) -> None:
    """A task can be revived again and again; descent is the highest state that it has left (RE-10)."""
    (task,) = push(backend, repository, topic, "a")
    descents = []
    for decision in [
        TaskDecision.FAILURE,
        TaskDecision.SUSPENSION,
        TaskDecision.FAILURE,
        TaskDecision.SUCCESS,
    ]:
        complete(backend, repository, topic, poll(backend, repository, topic), decision)
        run(backend, repository.recreate, topic, Revivification.RESET, [task])
        descents.append(info(backend, repository, topic, task).descent)
    complete(backend, repository, topic, poll(backend, repository, topic), TaskDecision.FAILURE)
    run(backend, repository.recreate, topic, Revivification.APPEND, [task])

    assert descents == [TaskState.FAILED, TaskState.SUSPENDED, TaskState.SUSPENDED, TaskState.SUCCEEDED]
    found = info(backend, repository, topic, task)
    assert (found.state, found.descent) == (TaskState.RECREATED, TaskState.SUCCEEDED)


def test_reset_keeps_counting_attempts_and_tokens(backend: Backend, repository: Repository, topic: str) -> None:
    """A task that comes back has one more attempt and a higher token (RE-B4)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.FAILURE)
    before = info(backend, repository, topic, task)

    run(backend, repository.recreate, topic, Revivification.RESET, [task])

    (again,) = poll(backend, repository, topic)
    assert (before.attempt, again.attempt) == (1, 2)
    assert again.token > before.token


@every_mode
def test_nothing_to_revive_is_an_empty_map(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """No tasks, none in the state, size 0, an empty range, an unknown topic: nothing (RE-11, TO-03)."""
    finished(backend, repository, topic, "a", decision=TaskDecision.FAILURE)
    before = states(backend, repository, topic)

    with backend.begin() as tx:
        assert repository.recreate(tx, topic, mode, []) == {}
        assert repository.recreate(tx, topic, mode, iter(())) == {}
        assert repository.recreate_state(tx, topic, mode, TaskState.FILTERED, size=9) == {}
        assert repository.recreate_state(tx, topic, mode, TaskState.FAILED, size=0) == {}
        assert repository.recreate_state(tx, topic, mode, TaskState.FAILED, first=5, last=4) == {}
        assert repository.recreate_state(tx, "unknown", mode, TaskState.FAILED) == {}

    assert states(backend, repository, topic) == before


@every_mode
def test_the_map_keeps_the_order_given(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """Named tasks come back in the order in which they were named, from any iterable (RE-04, RE-B2)."""
    tasks = finished(backend, repository, topic, *"abcdef", decision=TaskDecision.FAILURE)
    named = [tasks[i] for i in (3, 5, 0, 4, 2, 1)]

    revived = run(backend, repository.recreate, topic, mode, iter(named))

    assert list(revived) == named


@every_mode
def test_a_task_named_twice_is_revived_once(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """A repetition in the call makes no second copy (RE-04)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.FAILURE)

    revived = run(backend, repository.recreate, topic, mode, [task, task])

    assert list(revived) == [task]
    assert list(states(backend, repository, topic).values()).count(TaskState.READY) == 1


@pytest.mark.backends("postgresql", "oracle")
@every_mode
def test_by_state_skips_rows_locked_elsewhere(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """A task that another transaction changes right now is left out, without waiting (RE-12)."""
    locked, free = finished(backend, repository, topic, "a", "b", decision=TaskDecision.FAILURE)
    other = backend.open()
    repository.reassign(other, topic, {locked: TaskResult.SUCCESS})

    revived = run(backend, repository.recreate_state, topic, mode, TaskState.FAILED, size=2)

    assert list(revived) == [free]


def test_states_that_are_no_source_are_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """Only EXPIRED to SUCCEEDED can be revived by state (RE-01, RE-13)."""
    with backend.begin() as tx:
        for state in UNREVIVABLE:
            with pytest.raises(InvalidTaskError, match=state.name):
                repository.recreate_state(tx, topic, Revivification.RESET, state)


@pytest.mark.backends("postgresql", "oracle")
@every_mode
def test_a_task_is_revived_once(backend: Backend, repository: Repository, topic: str, mode: Revivification) -> None:
    """A second revival of the same task waits for the first one and is then refused (RE-03, RE-13)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.FAILURE)
    early, late = backend.open(), backend.open()
    repository.recreate(early, topic, mode, [task])

    with ThreadPoolExecutor() as executor:
        second = executor.submit(repository.recreate, late, topic, mode, [task])
        await_lock(backend, second)
        backend.commit(early)
        with pytest.raises(TaskStateError) as caught:
            second.result(TIMEOUT)

    assert caught.value.tasks == {task}
    assert list(states(backend, repository, topic).values()).count(TaskState.READY) == 1


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.parametrize("by_state", [False, True], ids=["named", "by state"])
@pytest.mark.parametrize("mode", REPLACING, ids=lambda mode: mode.name)
def test_replacing_revivals_at_once_leave_one_ready(
    backend: Backend, repository: Repository, topic: str, mode: Revivification, *, by_state: bool
) -> None:
    """Two transactions revive two tasks of one identifier; the later copy replaces the earlier (RE-05, P5)."""
    one, two = finished(backend, repository, topic, "a", "a", decision=TaskDecision.FAILURE)
    early, late = backend.open(), backend.open()
    repository.recreate(early, topic, mode, [one])

    with ThreadPoolExecutor() as executor:
        second = (
            executor.submit(repository.recreate_state, late, topic, mode, TaskState.FAILED, first=two.sequence)
            if by_state
            else executor.submit(repository.recreate, late, topic, mode, [two])
        )
        await_lock(backend, second)
        backend.commit(early)
        # REPLACE of the first has made the second redundant, SUPERSEDE has left it to be revived.
        try:
            revived = second.result(TIMEOUT)
        except TaskStateError:
            revived = {}
    backend.commit(late)

    assert len(revived) == (1 if mode is Revivification.SUPERSEDE else 0)
    found = states(backend, repository, topic)
    ready = [sequence for sequence, state in found.items() if state is TaskState.READY]
    assert ready == [max(found)]


def test_a_rollback_undoes_a_revival(backend: Backend, repository: Repository, topic: str) -> None:
    """Old and new tasks are as before when the caller rolls back (RE-04, P7)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.FAILURE)
    before = states(backend, repository, topic)

    tx = backend.open()
    repository.recreate(tx, topic, Revivification.REPLACE, [task])
    backend.close(tx)

    assert states(backend, repository, topic) == before


def test_a_new_task_is_created_now(backend: Backend, repository: Repository, topic: str) -> None:
    """The copy has a creation time of its own (RE-04)."""
    (task,) = finished(backend, repository, topic, "a", decision=TaskDecision.FAILURE)
    backend.sql("UPDATE task SET created = '2001-01-01 00:00:00.000'")

    revived = run(backend, repository.recreate, topic, Revivification.APPEND, [task])

    assert info(backend, repository, topic, revived[task]).created > datetime(2020, 1, 1, tzinfo=UTC)
