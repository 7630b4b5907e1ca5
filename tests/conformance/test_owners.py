"""Owners, heartbeats and expiry (section 11 of BEHAVIOURS.md)."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

import pytest

from task_api import (
    REVIVABLE,
    InvalidTaskError,
    LostTaskError,
    Revivification,
    Task,
    TaskDecision,
    TaskInfo,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
)
from task_sql import create_repository
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push, states
from tests.conformance.scenes import Repository, one_of_each, run, set_time

MINUTE = timedelta(minutes=1)
ZERO = timedelta(0)
READY, ACTIVE, EXPIRED = TaskState.READY, TaskState.ACTIVE, TaskState.EXPIRED


@pytest.fixture
def ghost(backend: Backend) -> Repository:
    """A repository of another owner."""
    return backend.repository("ghost")


def test_register_tells_whether_the_owner_is_new(backend: Backend) -> None:
    """True once, false when it is there, from whichever instance (OW-01)."""
    registered = [run(backend, backend.repository("new", register=False).register) for _ in range(2)]

    assert registered == [True, False]


def test_register_makes_the_heartbeat_fresh(backend: Backend, repository: Repository, ghost: Repository) -> None:
    """A process that starts again is alive, however old its last beat (OW-01, OW-02, OW-B2)."""
    backend.age_owner("ghost", 3600)
    assert run(backend, repository.owners, MINUTE) == set()

    run(backend, ghost.register)

    assert run(backend, repository.owners, MINUTE) == {"ghost"}


def test_heartbeat_is_now(backend: Backend, repository: Repository, ghost: Repository) -> None:
    """It makes an owner alive again (OW-03)."""
    backend.age_owner("ghost", 3600)

    run(backend, ghost.heartbeat)

    assert run(backend, repository.owners, MINUTE) == {"ghost"}


def test_an_unregistered_owner_has_no_heartbeat(backend: Backend) -> None:
    """The error names the owner and what to do, and the transaction goes on (OW-03)."""
    stranger = backend.repository("stranger", register=False)

    with backend.begin() as tx:
        with pytest.raises(UnknownOwnerError, match=r"'stranger'.*register") as caught:
            stranger.heartbeat(tx)
        assert stranger.register(tx) is True

    assert caught.value.owner == "stranger"


def test_owners_are_the_others_that_beat(backend: Backend, repository: Repository) -> None:
    """Never oneself, nobody older than the timeout, none for 0 (OW-04)."""
    for owner, age in {"fresh": 0, "slow": 59, "gone": 61}.items():
        backend.repository(owner)
        backend.age_owner(owner, age)

    assert run(backend, repository.owners, timedelta(seconds=60)) >= {"fresh"}
    assert run(backend, repository.owners, timedelta(seconds=60)) <= {"fresh", "slow"}
    assert run(backend, repository.owners, timedelta(hours=1)) == {"fresh", "slow", "gone"}
    assert run(backend, repository.owners, ZERO) == set()


def test_silent_owners_lose_their_tasks_in_all_topics(
    backend: Backend, repository: Repository, ghost: Repository, topic: str
) -> None:
    """ACTIVE tasks of owners that stopped beating become EXPIRED and are counted (OW-05, OW-B4)."""
    run(backend, repository.initialize, "other")
    live = backend.repository("live")
    expected: dict[int, TaskState] = {}
    for place in (topic, "other"):
        tasks = push(backend, repository, place, *"abc")
        poll(backend, ghost, place)
        poll(backend, live, place)
        expected |= dict(zip((task.sequence for task in tasks), (EXPIRED, ACTIVE, READY), strict=True))
    backend.age_owner("ghost", 3600)

    counts = [run(backend, repository.expire, MINUTE) for _ in range(2)]

    assert counts == [2, 0]
    assert states(backend, repository, topic) | states(backend, repository, "other") == expected


def test_only_active_tasks_expire(backend: Backend, repository: Repository, ghost: Repository, topic: str) -> None:
    """What a silent owner has decided or given back stays (OW-05)."""
    decided, returned = push(backend, repository, topic, "a", "b")
    held = poll(backend, ghost, topic, 2)
    complete(backend, ghost, topic, held[0])
    run(backend, ghost.release, topic, held[1:])
    backend.age_owner("ghost", 3600)

    assert run(backend, repository.expire, MINUTE) == 0
    assert states(backend, repository, topic) == {
        decided.sequence: TaskState.SUCCEEDED,
        returned.sequence: READY,
    }


def test_tasks_of_an_owner_that_is_gone_expire(
    backend: Backend, repository: Repository, ghost: Repository, topic: str
) -> None:
    """An owner that nobody knows any more does not beat either (OW-05, P1)."""
    (task,) = push(backend, repository, topic, "a")
    poll(backend, ghost, topic)
    backend.sql("DELETE FROM task_owner WHERE owner = 'ghost'")

    assert run(backend, repository.expire, timedelta(hours=1)) == 1
    assert states(backend, repository, topic) == {task.sequence: EXPIRED}


def test_expiry_keeps_the_record(backend: Backend, repository: Repository, ghost: Repository, topic: str) -> None:
    """Owner, descent, completion, attempt and token stay as they were (OW-06)."""
    (task,) = push(backend, repository, topic, "a")
    complete(backend, ghost, topic, poll(backend, ghost, topic), TaskDecision.FAILURE)
    run(backend, repository.recreate, topic, Revivification.RESET, [task])
    poll(backend, ghost, topic)
    before = info(backend, repository, topic, task)
    backend.age_owner("ghost", 3600)

    run(backend, repository.expire, MINUTE)

    after = info(backend, repository, topic, task)
    assert (after.state, after.owner, after.descent) == (EXPIRED, "ghost", TaskState.FAILED)
    assert record(after) == record(before)


def record(task: TaskInfo) -> tuple[object, ...]:
    """What expiry leaves alone."""
    return task.owner, task.descent, task.completed, task.polled, task.attempt, task.input


def test_a_negative_timeout_is_refused(backend: Backend, repository: Repository) -> None:
    """All three calls that take a timeout check it alike (OW-07, OW-B3)."""
    with backend.begin() as tx:
        for call in (repository.owners, repository.expire, repository.purge_owners):
            with pytest.raises(InvalidTaskError, match="timeout"):
                call(tx, timedelta(microseconds=-1))


def test_timeouts_below_a_second_count(backend: Backend, repository: Repository, ghost: Repository, topic: str) -> None:
    """An owner that has just beaten is alive for 0.9 seconds (OW-04, OW-08, OW-B5)."""
    push(backend, repository, topic, "a")
    poll(backend, ghost, topic)
    short = timedelta(seconds=0.9)

    def seen_alive() -> bool:
        with backend.begin() as tx:
            ghost.heartbeat(tx)
            return repository.owners(tx, short) == {"ghost"}

    assert any(seen_alive() for _ in range(10))  # once may come too late on a busy machine
    backend.age_owner("ghost", 0.95)
    assert run(backend, repository.expire, short) == 1


def test_nobody_expires_its_own_tasks_by_heartbeat(backend: Backend, repository: Repository, topic: str) -> None:
    """However long its own heartbeat is past (OW-09)."""
    push(backend, repository, topic, "a")
    poll(backend, repository, topic)
    backend.age_owner("me", 3600)

    assert run(backend, repository.expire, ZERO) == 0


def test_a_lease_that_ended_expires_own_tasks_too(backend: Backend, repository: Repository, topic: str) -> None:
    """The end of a lease counts for everybody, a heartbeat for others only (OW-05, OW-09)."""
    ended, running, without = push(backend, repository, topic, *"abc")
    poll(backend, repository, topic, 2, lease=timedelta(hours=1))
    poll(backend, repository, topic)
    set_time(backend, ended, datetime(2001, 1, 1, tzinfo=UTC), "lease")

    assert run(backend, repository.expire, timedelta(hours=1)) == 1
    assert states(backend, repository, topic) == {
        ended.sequence: EXPIRED,
        running.sequence: ACTIVE,
        without.sequence: ACTIVE,
    }


@pytest.mark.backends("postgresql", "oracle")
def test_expiry_skips_rows_locked_elsewhere(
    backend: Backend, repository: Repository, ghost: Repository, topic: str
) -> None:
    """A task that is being decided right now is left to its decision (OW-10)."""
    push(backend, repository, topic, "a", "b")
    first, second = poll(backend, ghost, topic, 2)
    backend.age_owner("ghost", 3600)
    tx = backend.open()
    ghost.complete(tx, topic, first)

    assert run(backend, repository.expire, MINUTE) == 1
    backend.commit(tx)

    assert states(backend, repository, topic) == {
        first.sequence: TaskState.SUCCEEDED,
        second.sequence: EXPIRED,
    }


def expired(backend: Backend, repository: Repository, ghost: Repository, topic: str) -> Task:
    """A task that its owner lost by silence."""
    push(backend, repository, topic, "a")
    (task,) = poll(backend, ghost, topic)
    backend.age_owner("ghost", 3600)
    run(backend, repository.expire, MINUTE)
    return task


def test_the_old_owner_can_not_decide_any_more(
    backend: Backend, repository: Repository, ghost: Repository, topic: str
) -> None:
    """Its completion fails, also when it beats again (OW-11)."""
    task = expired(backend, repository, ghost, topic)
    run(backend, ghost.heartbeat)

    with pytest.raises(LostTaskError) as caught:
        complete(backend, ghost, topic, task)

    assert caught.value.tasks == {task}


def test_expired_tasks_wait_for_somebody(
    backend: Backend, repository: Repository, ghost: Repository, topic: str
) -> None:
    """No poll or promotion brings them back; a reset does (OW-12)."""
    task = expired(backend, repository, ghost, topic)

    assert poll(backend, repository, topic) == []
    assert run(backend, repository.promote, topic) == 0
    run(backend, repository.recreate, topic, Revivification.RESET, [task])
    assert poll(backend, repository, topic) == [task]


def test_nothing_beats_or_expires_by_itself(
    backend: Backend, repository: Repository, ghost: Repository, topic: str
) -> None:
    """Pushing, polling and completing touch neither heartbeats nor other owners' tasks (OW-13)."""
    push(backend, repository, topic, "a", "b")
    (task,) = poll(backend, ghost, topic)
    backend.age_owner("ghost", 3600)
    backend.age_owner("me", 3600)
    complete(backend, repository, topic, poll(backend, repository, topic))

    assert info(backend, repository, topic, task).state is ACTIVE
    assert run(backend, backend.repository("watch").owners, MINUTE) == set()


def test_producers_and_operators_need_no_registration(backend: Backend, repository: Repository, topic: str) -> None:
    """Pushing, listing, counting, reviving and expiring do without it (OW-14)."""
    stranger = backend.repository("stranger", register=False)
    push(backend, stranger, topic, "a")
    (task,) = poll(backend, repository, topic)
    complete(backend, repository, topic, task, TaskDecision.FAILURE)

    with backend.begin() as tx:
        assert stranger.page(tx, topic) == [task]
        assert list(stranger.count(tx)) == [topic]
        assert stranger.expire(tx, ZERO) == 0
        assert stranger.recreate(tx, topic, Revivification.RESET, [task]) == {task: task}


def test_polling_needs_registration(backend: Backend, repository: Repository, topic: str) -> None:
    """The error names the owner, and once registered the same transaction goes on (OW-14)."""
    (task,) = push(backend, repository, topic, "a")
    stranger = backend.repository("stranger", register=False)

    with backend.begin() as tx:
        with pytest.raises(UnknownOwnerError, match="'stranger'"):
            stranger.poll(tx, topic)
        stranger.register(tx)
        assert stranger.poll(tx, topic) == task


@pytest.mark.kinds("driver")
def test_every_process_start_is_an_owner_of_its_own(backend: Backend) -> None:
    """Unless named, no two repositories or processes share an owner, so that orphans show as such (OW-B1)."""
    program = "import sys, task_sql as t; print(t.create_repository(t.create_engine(sys.argv[1])).owner)"
    owners = [create_repository(backend.engine).owner for _ in range(2)]
    owners += [
        subprocess.run(  # noqa: S603 - ours
            [sys.executable, "-c", program, backend.url],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout.strip()
        for _ in range(2)
    ]

    assert len(set(owners)) == 4
    assert all(owners)


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("driver", "plain")
def test_heartbeats_are_utc_whatever_the_session(backend: Backend, repository: Repository, ghost: Repository) -> None:
    """Sessions in different time zones agree on who is alive (OW-03, OW-B3)."""
    for owner, zone in ((repository, "UTC"), (ghost, "Asia/Tokyo")):
        with backend.begin() as tx:
            tx.execute(f"SET LOCAL TIME ZONE '{zone}'")
            owner.heartbeat(tx)
            others = {"me", "ghost"} - {owner.owner}
            assert owner.owners(tx, MINUTE) == others
            assert owner.expire(tx, MINUTE) == 0


@pytest.mark.parametrize("state", sorted(REVIVABLE | {READY}), ids=attrgetter("name"))
def test_a_task_is_taken_from_another_state(
    backend: Backend, repository: Repository, topic: str, state: TaskState
) -> None:
    """If asked to, eject brings a task back and claims it in one (S0-13)."""
    old = one_of_each(backend, repository, topic, [state])[state]
    before = info(backend, repository, topic, old)
    with backend.begin() as tx, pytest.raises(TaskStateError):
        repository.eject(tx, topic, old)
    with backend.begin() as tx:
        taken = repository.eject(tx, topic, old, states=[ACTIVE, state])
    assert (taken.attempt, taken.token) == (before.attempt + 1, before.token + 1)
    now = info(backend, repository, topic, old)
    assert (now.state, now.owner, now.descent) == (ACTIVE, repository.owner, max(before.descent, state))
    complete(backend, repository, topic, taken)


@pytest.mark.parametrize("chosen", [[], [ACTIVE, TaskState.REDUNDANT], [TaskState.RECREATED], ["ACTIVE"], 3])
def test_states_to_eject_from_are_checked(
    backend: Backend,
    repository: Repository,
    topic: str,
    chosen: Any,  # noqa: ANN401
) -> None:
    """What stands for another task is not brought back."""
    [task] = push(backend, repository, topic, "a")
    with backend.begin() as tx:
        with pytest.raises(InvalidTaskError):
            repository.eject(tx, topic, task, states=chosen)
        assert repository.task(tx, topic, task.sequence) is not None
