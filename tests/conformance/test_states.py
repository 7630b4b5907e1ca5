"""States, descent and what stays on a task: section 1 of the behaviours."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from operator import attrgetter

import oracledb
import pytest
import sqlalchemy.exc

from task_api import (
    Insertion,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
    TaskError,
    TaskResult,
    TaskState,
)
from tests.backends import Backend, Transaction
from tests.backends.steps import complete, drive, info, poll, push, states
from tests.conformance.scenes import Repository, one_of_each, run

Call = Callable[[Transaction, Repository, str, Task], object]

ACTIVE, READY, EXPIRED, FAILED, SUSPENDED, FILTERED, SUCCEEDED, RECREATED, REDUNDANT = TaskState
REFUSED = (sqlite3.IntegrityError, sqlalchemy.exc.IntegrityError, oracledb.IntegrityError)
REVIVABLE = (EXPIRED, FAILED, SUSPENDED, FILTERED, SUCCEEDED)


@pytest.mark.kinds("driver", "plain")
def test_the_ordinal_is_what_is_stored(backend: Backend, repository: Repository, topic: str) -> None:
    """Each of the nine states is stored as its ordinal and read back as itself (ST-01, ST-02)."""
    tasks = one_of_each(backend, repository, topic)

    stored = dict(backend.sql("SELECT sequence, state FROM task"))
    assert {state: stored[task.sequence] for state, task in tasks.items()} == {state: int(state) for state in TaskState}
    read = states(backend, repository, topic)
    assert {state: read[task.sequence] for state, task in tasks.items()} == {state: state for state in TaskState}


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize(("column", "ordinal"), [("state", -1), ("state", 9), ("descent", 0), ("descent", 7)])
def test_the_database_refuses_ordinals_out_of_range(
    backend: Backend, repository: Repository, topic: str, column: str, ordinal: int
) -> None:
    """The state is limited to 0..8 and the descent to 1..6 by a check (ST-02, ST-07)."""
    push(backend, repository, topic, "a")

    with pytest.raises(REFUSED):
        backend.sql(f"UPDATE task SET {column} = :ordinal", ordinal=ordinal)  # noqa: S608 - ours


@pytest.mark.kinds("driver", "plain")
def test_topic_and_sequence_are_the_key(backend: Backend, repository: Repository, topic: str) -> None:
    """No row can be there twice (ST-13)."""
    push(backend, repository, topic, "a")

    with pytest.raises(REFUSED):
        backend.sql("INSERT INTO task SELECT * FROM task")


def outcomes(
    backend: Backend, repository: Repository, topic: str, tasks: dict[TaskState, Task], call: Call
) -> dict[TaskState, TaskState]:
    """Make the call for the task in each state; give the states of those that were not refused."""
    allowed = {}
    for state, task in tasks.items():
        before = info(backend, repository, topic, task)
        try:
            run(backend, call, repository, topic, before)
        except TaskError:
            continue
        allowed[state] = info(backend, repository, topic, task).state
    return allowed


def to(state: TaskState, *sources: TaskState) -> dict[TaskState, TaskState]:
    """Every source state goes to this one."""
    return dict.fromkeys(sources, state)


def completing(result: TaskResult) -> Call:
    """Decide the task with this result."""
    return lambda tx, repository, topic, task: repository.complete(tx, topic, task, TaskDecision(result))


def reassigning(result: TaskResult) -> Call:
    """Give the task this result."""
    return lambda tx, repository, topic, task: repository.reassign(tx, topic, {task: result})


TRANSITIONS: dict[str, tuple[Call, dict[TaskState, TaskState]]] = {
    **{f"complete {it.name}": (completing(it), to(it.state, ACTIVE)) for it in TaskResult},
    **{f"reassign {it.name}": (reassigning(it), to(it.state, *REVIVABLE)) for it in TaskResult},
    "release": (lambda tx, repository, topic, task: repository.release(tx, topic, [task]), to(READY, ACTIVE)),
    "eject": (lambda tx, repository, topic, task: repository.eject(tx, topic, task), to(ACTIVE, ACTIVE)),
    "reset": (
        lambda tx, repository, topic, task: repository.recreate(tx, topic, Revivification.RESET, [task]),
        to(READY, *REVIVABLE),
    ),
    "recreate": (
        lambda tx, repository, topic, task: repository.recreate(tx, topic, Revivification.APPEND, [task]),
        to(RECREATED, *REVIVABLE),
    ),
}


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize(("call", "expected"), TRANSITIONS.values(), ids=TRANSITIONS)
def test_only_legal_transitions_happen(
    backend: Backend,
    repository: Repository,
    topic: str,
    call: Call,
    expected: dict[TaskState, TaskState],
) -> None:
    """A call that names a task is refused but in the states that it is for (ST-05, ST-11)."""
    tasks = one_of_each(backend, repository, topic)

    assert outcomes(backend, repository, topic, tasks, call) == expected


SWEEPS: dict[str, tuple[Call, dict[TaskState, TaskState]]] = {
    "poll": (lambda tx, repository, topic, _: repository.poll_many(tx, topic, 100), to(ACTIVE, READY)),
    "expire": (lambda tx, repository, *_: repository.expire(tx, timedelta(0)), {}),
    "promote": (lambda tx, repository, topic, _: repository.promote(tx, topic), {}),
    "junction": (
        lambda tx, repository, topic, task: repository.junction(tx, topic, [[task.identifier]]),
        to(READY, SUSPENDED),
    ),
    "supersede": (
        lambda tx, repository, topic, task: repository.push(tx, topic, task.identifier, insertion=Insertion.SUPERSEDE),
        to(REDUNDANT, READY),
    ),
    "replace": (
        lambda tx, repository, topic, task: repository.push(tx, topic, task.identifier, insertion=Insertion.REPLACE),
        to(REDUNDANT, READY, *REVIVABLE),
    ),
}


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize(("call", "changes"), SWEEPS.values(), ids=SWEEPS)
def test_calls_that_find_their_tasks_change_no_others(
    backend: Backend,
    repository: Repository,
    topic: str,
    call: Call,
    changes: dict[TaskState, TaskState],
) -> None:
    """Polls, junctions and pushes change the states that they are for; others stay (ST-05, ST-11)."""
    tasks = one_of_each(backend, repository, topic)

    assert outcomes(backend, repository, topic, tasks, call) == {state: state for state in TaskState} | changes


def test_only_another_owner_expires_a_task(backend: Backend, repository: Repository, topic: str) -> None:
    """An ACTIVE task becomes EXPIRED when somebody else finds its owner silent (ST-11)."""
    [task] = push(backend, repository, topic, "a")
    poll(backend, repository, topic)
    backend.age_owner("me", 60)

    found = []
    for owner in ("me", "other"):
        run(backend, backend.repository(owner, register=False).expire, timedelta(seconds=30))
        found.append(info(backend, repository, topic, task).state)

    assert found == [ACTIVE, EXPIRED]


def test_a_new_task_descends_from_ready(backend: Backend, repository: Repository, topic: str) -> None:
    """Descent starts at READY, for a suspended task too (ST-07)."""
    tasks = push(backend, repository, topic, "a") + push(backend, repository, topic, "b", suspended=True)

    assert [info(backend, repository, topic, task).descent for task in tasks] == [READY, READY]


def test_poll_and_first_completion_leave_descent_at_ready(backend: Backend, repository: Repository, topic: str) -> None:
    """Neither a poll nor leaving ACTIVE raises the descent (ST-08, ST-09)."""
    [task] = push(backend, repository, topic, "a")
    [polled] = poll(backend, repository, topic)
    active = info(backend, repository, topic, task)
    complete(backend, repository, topic, polled)
    succeeded = info(backend, repository, topic, task)

    assert [(it.state, it.descent) for it in (active, succeeded)] == [(ACTIVE, READY), (SUCCEEDED, READY)]


def test_expiry_leaves_descent_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """An expired task still descends from READY (ST-08)."""
    [task] = push(backend, repository, topic, "a")
    drive(backend, repository, topic, task, EXPIRED)

    assert info(backend, repository, topic, task).descent is READY


def test_a_junction_leaves_descent_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """A task released by a junction still descends from READY (ST-08)."""
    [task] = push(backend, repository, topic, "a", suspended=True)
    run(backend, repository.junction, topic, [["a"]])
    released = info(backend, repository, topic, task)

    assert (released.state, released.descent) == (READY, READY)


LEAVE: dict[str, tuple[Call, TaskState]] = {
    "reset": (TRANSITIONS["reset"][0], READY),
    "recreate": (TRANSITIONS["recreate"][0], RECREATED),
    "reassign": (TRANSITIONS["reassign FAILURE"][0], FAILED),
    "replace": (SWEEPS["replace"][0], REDUNDANT),
}


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize(("call", "state"), LEAVE.values(), ids=LEAVE)
def test_descent_is_the_state_that_was_left(
    backend: Backend, repository: Repository, topic: str, call: Call, state: TaskState
) -> None:
    """Reset, recreate, reassign and redundancy raise the descent to the state left (ST-08, ST-10)."""
    tasks = one_of_each(backend, repository, topic)
    for source in REVIVABLE:
        run(backend, call, repository, topic, tasks[source])

    left = {source: info(backend, repository, topic, tasks[source]) for source in REVIVABLE}
    assert {source: (it.state, it.descent) for source, it in left.items()} == {
        source: (state, source) for source in REVIVABLE
    }


def test_a_ready_task_made_redundant_descends_from_ready(backend: Backend, repository: Repository, topic: str) -> None:
    """A READY task replaced shows REDUNDANT with descent READY (ST-10)."""
    [task] = push(backend, repository, topic, "a")
    push(backend, repository, topic, "a", insertion=Insertion.REPLACE)
    replaced = info(backend, repository, topic, task)

    assert (replaced.state, replaced.descent) == (REDUNDANT, READY)


def test_descent_is_a_maximum(backend: Backend, repository: Repository, topic: str) -> None:
    """Succeeded, reset, failed and recreated, a task still shows that it once succeeded (ST-08, ST-B2)."""
    [task] = push(backend, repository, topic, "a")
    drive(backend, repository, topic, task, SUCCEEDED)
    run(backend, repository.recreate, topic, Revivification.RESET, [task])
    drive(backend, repository, topic, task, FAILED)
    run(backend, repository.recreate, topic, Revivification.APPEND, [task])
    recreated = info(backend, repository, topic, task)

    assert (recreated.state, recreated.descent) == (RECREATED, SUCCEEDED)


def test_all_topics_share_one_generator_of_sequences(backend: Backend, repository: Repository, topic: str) -> None:
    """Sequences start at 1, rise, and are unique over all topics (ST-12)."""
    run(backend, repository.initialize, "other")
    pushed = [push(backend, repository, name, "a", "b") for name in (topic, "other", topic)]
    sequences = [task.sequence for tasks in pushed for task in tasks]

    assert sequences[0] == 1
    assert sequences == sorted(set(sequences))


def test_names_may_be_as_wide_as_they_are_declared(backend: Backend) -> None:
    """Topic 250, identifier 500, owner 250 and reference 500 characters of four bytes all fit (ST-13)."""
    topic, identifier, owner, reference = ("\N{GRINNING FACE}" * length for length in (250, 500, 250, 500))
    repository = backend.repository(owner)
    run(backend, repository.initialize, topic)
    creation = TaskCreation(identifier, reference=reference)
    task = run(backend, repository.push_many, topic, [creation, creation], insertion=Insertion.REPLACE)[-1]
    poll(backend, repository, topic)
    stored = info(backend, repository, topic, task)

    assert (stored.topic, stored.identifier, stored.owner, stored.reference) == (
        topic,
        identifier,
        owner,
        reference,
    )


@pytest.mark.parametrize("text", ["x" * 1_000_000, "ä€\N{GRINNING FACE}\r\n\t\x01 end "], ids=["long", "unicode"])
def test_input_and_output_are_stored_whole(backend: Backend, repository: Repository, topic: str, text: str) -> None:
    """Input and output are text of any length and alphabet, never cut (ST-13, CO-11)."""
    [task] = push(backend, repository, topic, "a", input=text)
    [polled] = poll(backend, repository, topic)
    complete(backend, repository, topic, polled, TaskDecision.success(text))
    stored = info(backend, repository, topic, task)

    assert [it == text for it in (task.input, polled.input, stored.input, stored.output)] == [True] * 4


def test_the_info_of_a_fresh_task(backend: Backend, repository: Repository, topic: str) -> None:
    """Everything about a task is there; what has not happened yet is absent (ST-15)."""
    [task] = push(backend, repository, topic, "a", input="in", reference="ref")
    fresh = info(backend, repository, topic, task)

    assert fresh == task
    assert (fresh.topic, fresh.identifier, fresh.input, fresh.reference) == (topic, "a", "in", "ref")
    assert (fresh.state, fresh.descent, fresh.attempt, fresh.token) == (READY, READY, 0, 0)
    absent = ("owner", "polled", "completed", "due", "lease", "origin", "output")
    assert {name: getattr(fresh, name) for name in absent} == dict.fromkeys(absent)


def test_times_are_aware_and_in_utc(backend: Backend, repository: Repository, topic: str) -> None:
    """All times come back as UTC, in their order, by one clock near ours (ST-15)."""
    due = datetime(2100, 1, 1, 1, 30, tzinfo=UTC)
    [task] = push(backend, repository, topic, "a")
    [polled] = poll(backend, repository, topic, lease=timedelta(hours=1))
    leased = info(backend, repository, topic, task).lease
    complete(backend, repository, topic, polled, TaskDecision.suspension(due=due))
    done = info(backend, repository, topic, task)

    times = [it for it in (done.created, done.polled, done.completed, leased, done.due) if it is not None]
    assert [it.utcoffset() for it in times] == [timedelta(0)] * 5
    assert times == sorted(times)
    assert done.due == due
    assert abs(datetime.now(UTC) - done.created) < timedelta(minutes=5)


def decided(backend: Backend, repository: Repository, topic: str) -> Task:
    """Push a task and let it fail with a message."""
    push(backend, repository, topic, "a")
    [task] = poll(backend, repository, topic)
    complete(backend, repository, topic, task, TaskDecision.failure("no"))
    return task


@pytest.mark.parametrize("name", ["recreate", "reassign", "replace"])
def test_owner_output_and_completion_stay(backend: Backend, repository: Repository, topic: str, name: str) -> None:
    """A task recreated, reassigned or made redundant keeps who did what and when (ST-16, IN-17)."""
    task = decided(backend, repository, topic)
    before = info(backend, repository, topic, task)
    run(backend, LEAVE[name][0], repository, topic, task)
    after = info(backend, repository, topic, task)

    assert (after.owner, after.output, after.completed) == ("me", "no", before.completed)


def test_an_expired_task_keeps_its_owner(backend: Backend, repository: Repository, topic: str) -> None:
    """The owner that went silent stays on the task (ST-16)."""
    [task] = push(backend, repository, topic, "a")
    drive(backend, repository, topic, task, EXPIRED)
    expired = info(backend, repository, topic, task)

    assert (expired.owner, expired.completed) == ("ghost", None)


def test_a_reset_task_does_not_look_finished(backend: Backend, repository: Repository, topic: str) -> None:
    """Reset clears completion and output, for the next poll as well (ST-16, ST-B3)."""
    task = decided(backend, repository, topic)
    run(backend, repository.recreate, topic, Revivification.RESET, [task])
    reset = info(backend, repository, topic, task)
    poll(backend, repository, topic)
    active = info(backend, repository, topic, task)

    assert [(it.state, it.completed, it.output) for it in (reset, active)] == [
        (READY, None, None),
        (ACTIVE, None, None),
    ]


@pytest.mark.parametrize(
    "mode", [it for it in Revivification if it is not Revivification.RESET], ids=attrgetter("name")
)
def test_a_recreated_task_knows_its_origin(
    backend: Backend, repository: Repository, topic: str, mode: Revivification
) -> None:
    """The new task stores the sequence that it came from, the old one has none (ST-B4)."""
    task = decided(backend, repository, topic)
    new = run(backend, repository.recreate, topic, mode, [task])[task]

    assert [info(backend, repository, topic, it).origin for it in (task, new)] == [None, task.sequence]
