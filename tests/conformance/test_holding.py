"""Holding a task: token, attempt, release, extend, checkpoint, lease and eject (DESIGN 2 and 3)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from task_api import (
    InvalidTaskError,
    LostTaskError,
    Revivification,
    Task,
    TaskDecision,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
)
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push, states
from tests.conformance.holders import CALLS, HOUR, MINUTE, Call, end_leases, held, without
from tests.conformance.scenes import TIMEOUT, Repository, await_lock, one_of_each, run

ACTIVE, READY, EXPIRED = TaskState.ACTIVE, TaskState.READY, TaskState.EXPIRED
EVERY_CALL = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


# Token and attempt ---------------------------------------------------------------------------------------


def test_every_poll_and_eject_raises_the_token(backend: Backend, repository: Repository, topic: str) -> None:
    """It never falls, whatever happens to the task between, and the stored one is the latest (CO-B2)."""
    [task] = push(backend, repository, topic, "a")
    tokens = [task.token]

    def claim(held: Task) -> Task:
        tokens.append(held.token)
        assert info(backend, repository, topic, held).token == held.token
        return held

    [first] = poll(backend, repository, topic)
    run(backend, repository.release, topic, [claim(first)])
    [second] = poll(backend, repository, topic)
    third = run(backend, repository.eject, topic, claim(second))
    complete(backend, repository, topic, claim(third), TaskDecision.retry(timedelta(0)))
    run(backend, repository.promote, topic)
    [fourth] = poll(backend, repository, topic, lease=MINUTE)
    claim(fourth)
    end_leases(backend)
    run(backend, repository.expire, HOUR)
    run(backend, repository.recreate, topic, Revivification.RESET, [task])
    claim(poll(backend, repository, topic)[0])

    assert tokens == sorted(set(tokens))
    assert len(tokens) == 6


def test_every_poll_counts_an_attempt(backend: Backend, repository: Repository, topic: str) -> None:
    """A poll adds one, a retry and a reset keep the number (DESIGN 3)."""
    push(backend, repository, topic, "a")
    attempts = []
    for again in ("retry", "reset", "end"):
        [task] = poll(backend, repository, topic)
        attempts.append((task.attempt, info(backend, repository, topic, task).attempt))
        complete(backend, repository, topic, task, TaskDecision.retry(timedelta(0)))
        if again == "retry":
            run(backend, repository.promote, topic)
        elif again == "reset":
            run(backend, repository.recreate, topic, Revivification.RESET, [task])

    assert attempts == [(1, 1), (2, 2), (3, 3)]


def test_a_recreated_task_starts_at_no_attempt(backend: Backend, repository: Repository, topic: str) -> None:
    """It is a new task, with its origin (DESIGN 3, ST-B4)."""
    [task] = held(backend, repository, topic, "a")
    complete(backend, repository, topic, task)
    new = run(backend, repository.recreate, topic, Revivification.APPEND, [task])[task]
    stored = info(backend, repository, topic, new)

    assert (new.attempt, stored.attempt, stored.origin) == (0, 0, task.sequence)


# Release -------------------------------------------------------------------------------------------------


def test_released_tasks_are_ready_at_their_old_place(backend: Backend, repository: Repository, topic: str) -> None:
    """They come first again, the attempt taken back (DESIGN 3)."""
    tasks = held(backend, repository, topic, *"abc")
    push(backend, repository, topic, "d")
    run(backend, repository.release, topic, iter(tasks[:2]))
    given = [info(backend, repository, topic, task) for task in tasks]
    again = poll(backend, repository, topic, 2)

    assert [(it.state, it.attempt) for it in given] == [(READY, 0), (READY, 0), (ACTIVE, 1)]
    assert (again, [task.attempt for task in again]) == (tasks[:2], [1, 1])


def test_a_release_is_no_decision(backend: Backend, repository: Repository, topic: str) -> None:
    """Descent, input and token stay, and there is neither output nor completion (ST-08)."""
    [task] = held(backend, repository, topic, "a")
    before = info(backend, repository, topic, task)
    run(backend, repository.release, topic, [task])
    after = info(backend, repository, topic, task)

    assert (after.state, after.completed, after.output, after.lease) == (READY, None, None, None)
    assert (after.descent, after.input, after.token) == (before.descent, before.input, before.token)


# Lease ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lease", [timedelta(milliseconds=1500), HOUR, timedelta(days=1000)], ids=str)
def test_a_lease_is_counted_from_the_poll(
    backend: Backend, repository: Repository, topic: str, lease: timedelta
) -> None:
    """Its end is stored, to the fraction of a second, by the database's clock (DESIGN 3)."""
    [task] = held(backend, repository, topic, "a", lease=lease)
    stored = info(backend, repository, topic, task)

    assert stored.lease is not None
    assert stored.polled is not None
    assert abs(stored.lease - stored.polled - lease) <= timedelta(milliseconds=1)


@pytest.mark.parametrize("back", ["release", "expire"])
def test_a_poll_without_lease_clears_an_old_one(
    backend: Backend, repository: Repository, topic: str, back: str
) -> None:
    """A claim has the lease of its own poll only (DESIGN 3)."""
    [task] = held(backend, repository, topic, "a", lease=MINUTE)
    if back == "release":
        run(backend, repository.release, topic, [task])
    else:
        end_leases(backend)
        run(backend, repository.expire, HOUR)
        run(backend, repository.recreate, topic, Revivification.RESET, [task])
    ready = info(backend, repository, topic, task)
    poll(backend, repository, topic)
    active = info(backend, repository, topic, task)

    assert [(it.state, it.lease) for it in (ready, active)] == [(READY, None), (ACTIVE, None)]


@pytest.mark.parametrize("owner", ["me", "other"])
def test_a_task_expires_when_its_lease_ended(backend: Backend, repository: Repository, topic: str, owner: str) -> None:
    """Under a beating owner too, and whoever looks: the lease counts for one's own tasks (DESIGN 3)."""
    [ended] = held(backend, repository, topic, "a", lease=MINUTE)
    end_leases(backend)
    [running] = held(backend, repository, topic, "b", lease=MINUTE)
    [unlimited] = held(backend, repository, topic, "c")
    number = run(backend, backend.repository(owner).expire, HOUR)

    assert number == 1
    assert states(backend, repository, topic) == {
        ended.sequence: EXPIRED,
        running.sequence: ACTIVE,
        unlimited.sequence: ACTIVE,
    }


def test_a_task_that_is_not_active_does_not_expire(backend: Backend, repository: Repository, topic: str) -> None:
    """A lease that ended after the decision means nothing (ST-11)."""
    [task] = held(backend, repository, topic, "a", lease=MINUTE)
    complete(backend, repository, topic, task)
    end_leases(backend)

    assert run(backend, repository.expire, HOUR) == 0
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


def test_an_ended_lease_loses_nothing_by_itself(backend: Backend, repository: Repository, topic: str) -> None:
    """Until somebody expires the task its holder may still decide (CO-03)."""
    [task] = held(backend, repository, topic, "a", lease=MINUTE)
    end_leases(backend)
    complete(backend, repository, topic, task)

    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


@pytest.mark.parametrize("polled", [None, MINUTE, timedelta(days=1)], ids=["none", "shorter", "longer"])
def test_extend_moves_the_end_of_the_lease(
    backend: Backend, repository: Repository, topic: str, polled: timedelta | None
) -> None:
    """It lies the given time from now, before or after the old one, and nothing else changes (DESIGN 3)."""
    [task] = held(backend, repository, topic, "a", lease=polled)
    before = info(backend, repository, topic, task)
    run(backend, repository.extend, topic, [task], HOUR)
    after = info(backend, repository, topic, task)

    assert after.lease is not None
    assert before.polled is not None
    assert timedelta(0) <= after.lease - before.polled - HOUR < MINUTE
    assert without(after, "lease") == without(before, "lease")


def test_an_extended_task_does_not_expire(backend: Backend, repository: Repository, topic: str) -> None:
    """The new end is the one that counts (DESIGN 3)."""
    [task] = held(backend, repository, topic, "a", lease=MINUTE)
    end_leases(backend)
    run(backend, repository.extend, topic, [task], HOUR)

    assert run(backend, repository.expire, HOUR) == 0


# Checkpoint ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "stored"), [("new", "new"), (None, None), (" ", None), ("x" * 100_000, "x" * 100_000)]
)
def test_a_checkpoint_replaces_the_input(
    backend: Backend, repository: Repository, topic: str, given: str | None, stored: str | None
) -> None:
    """The next holder goes on from there; nothing else changes, blank is absent (IN-12)."""
    push(backend, repository, topic, "a", input="old")
    [task] = poll(backend, repository, topic)
    before = info(backend, repository, topic, task)
    run(backend, repository.checkpoint, topic, task, given)
    after = info(backend, repository, topic, task)
    run(backend, repository.release, topic, [task])

    assert after.input == stored
    assert without(after, "input") == without(before, "input")
    assert [it.input for it in poll(backend, repository, topic)] == [stored]


def test_a_nul_character_in_a_checkpoint_is_replaced_visibly(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A checkpoint is text like input (CO-B4)."""
    [task] = held(backend, repository, topic, "a")
    run(backend, repository.checkpoint, topic, task, "be\0fore")
    stored = info(backend, repository, topic, task).input

    assert stored is not None
    assert ("\0" in stored, stored == "before", stored[:2], stored[-4:]) == (False, False, "be", "fore")


def test_a_rollback_undoes_a_checkpoint(backend: Backend, repository: Repository, topic: str) -> None:
    """It belongs to the caller's transaction (IN-15)."""
    [task] = held(backend, repository, topic, "a")
    tx = backend.open()
    repository.checkpoint(tx, topic, task, "new")
    backend.rollback(tx)
    backend.close(tx)

    assert info(backend, repository, topic, task).input is None


# Eject ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("owner", ["me", "other"])
def test_an_ejected_task_has_a_new_holder(backend: Backend, repository: Repository, topic: str, owner: str) -> None:
    """It is ACTIVE under the new owner and token at once, and that holder decides it (ST-11)."""
    push(backend, repository, topic, "a", input="in")
    [old] = poll(backend, repository, topic)
    taker = backend.repository(owner)
    new = run(backend, taker.eject, topic, old)
    taken = info(backend, repository, topic, old)
    complete(backend, taker, topic, new)

    assert (new, new.identifier, new.input) == (old, "a", "in")
    assert (taken.state, taken.owner, taken.token) == (ACTIVE, owner, new.token)
    assert info(backend, repository, topic, old).state is TaskState.SUCCEEDED


def test_a_task_is_ejected_whoever_holds_it(backend: Backend, repository: Repository, topic: str) -> None:
    """Eject needs to know the sequence only, not a token (DESIGN 3)."""
    [task] = push(backend, repository, topic, "a")
    poll(backend, backend.repository("other"), topic)

    assert run(backend, repository.eject, topic, Task(task.sequence, "a")) == task


@pytest.mark.parametrize("lease", [None, HOUR], ids=["no lease", "lease"])
def test_an_ejected_task_has_the_lease_of_its_new_holder(
    backend: Backend, repository: Repository, topic: str, lease: timedelta | None
) -> None:
    """The end of the old lease does not expire the new claim (DESIGN 3)."""
    [task] = held(backend, repository, topic, "a", lease=MINUTE)
    end_leases(backend)
    run(backend, repository.eject, topic, task, lease=lease)

    assert run(backend, repository.expire, HOUR) == 0
    assert (info(backend, repository, topic, task).lease is None) is (lease is None)


@pytest.mark.kinds("driver", "plain")
def test_only_active_tasks_can_be_ejected(backend: Backend, repository: Repository, topic: str) -> None:
    """In any other state it is a state error that names the task, and the transaction goes on (ST-11)."""
    tasks = one_of_each(backend, repository, topic)
    refused = {}
    with backend.begin() as tx:
        for state, task in tasks.items():
            try:
                repository.eject(tx, topic, task)
            except TaskStateError as error:
                refused[state] = error.tasks
        witness = repository.push(tx, topic, "witness")

    assert refused == {state: {task} for state, task in tasks.items() if state is not ACTIVE}
    assert states(backend, repository, topic)[witness.sequence] is READY


@pytest.mark.parametrize("name", ["topic", "other", "unknown"])
def test_what_is_not_there_cannot_be_ejected(backend: Backend, repository: Repository, topic: str, name: str) -> None:
    """A missing task, or one of another topic, is a state error (DESIGN 3)."""
    run(backend, repository.initialize, "other")
    [task] = held(backend, repository, topic, "a")
    wanted = Task(999_999, "a") if name == topic else task
    with backend.begin() as tx, pytest.raises(TaskStateError) as refused:
        repository.eject(tx, name, wanted)

    assert refused.value.tasks == {wanted}
    assert info(backend, repository, topic, task).token == task.token


def test_an_unregistered_owner_may_not_eject(backend: Backend, repository: Repository, topic: str) -> None:
    """Whoever takes a task must be able to beat for it; the transaction goes on (PO-20)."""
    [task] = held(backend, repository, topic, "a")
    stranger = backend.repository("stranger", register=False)
    with backend.begin() as tx:
        with pytest.raises(UnknownOwnerError, match="stranger"):
            stranger.eject(tx, topic, task)
        repository.complete(tx, topic, task)

    assert info(backend, repository, topic, task).owner == "me"


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    """A thread for the one that has to wait."""
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.mark.backends("postgresql", "oracle")
@EVERY_CALL
def test_a_holder_that_waits_for_an_eject_has_lost(
    backend: Backend, repository: Repository, topic: str, call: Call, aside: ThreadPoolExecutor
) -> None:
    """The token is judged when the eject is over, not when the call began (CO-03, CO-B2)."""
    [task] = held(backend, repository, topic, "a")
    tx = backend.open()
    backend.repository("other").eject(tx, topic, task)
    future = aside.submit(run, backend, call, repository, topic, task)
    await_lock(backend, future)
    backend.commit(tx)

    with pytest.raises(LostTaskError):
        future.result(TIMEOUT)
    assert info(backend, repository, topic, task).owner == "other"


@pytest.mark.backends("postgresql", "oracle")
def test_an_eject_that_waits_for_a_completion_finds_it_decided(
    backend: Backend, repository: Repository, topic: str, aside: ThreadPoolExecutor
) -> None:
    """Of holder and taker one wins, never both (ST-11)."""
    [task] = held(backend, repository, topic, "a")
    tx = backend.open()
    repository.complete(tx, topic, task)
    future = aside.submit(run, backend, backend.repository("other").eject, topic, task)
    await_lock(backend, future)
    backend.commit(tx)

    with pytest.raises(TaskStateError):
        future.result(TIMEOUT)
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


# Wrong arguments -----------------------------------------------------------------------------------------


ANY: Any = object()
WRONG: dict[str, Call] = {
    "release in an empty topic": lambda tx, repository, _, task: repository.release(tx, "", [task]),
    "release of no task": lambda tx, repository, topic, _: repository.release(tx, topic, [ANY]),
    "extend in an over-long topic": lambda tx, repository, _, task: repository.extend(tx, "t" * 251, [task], HOUR),
    "extend by less than nothing": lambda tx, repository, topic, task: repository.extend(tx, topic, [task], -HOUR),
    "extend by no time": lambda tx, repository, topic, task: repository.extend(tx, topic, [task], ANY),
    "checkpoint in an empty topic": lambda tx, repository, _, task: repository.checkpoint(tx, "", task, "new"),
    "checkpoint with an object": lambda tx, repository, topic, task: repository.checkpoint(tx, topic, task, ANY),
    "checkpoint of no task": lambda tx, repository, topic, _: repository.checkpoint(tx, topic, ANY, "new"),
    "eject from an empty topic": lambda tx, repository, _, task: repository.eject(tx, "", task),
    "eject of no task": lambda tx, repository, topic, _: repository.eject(tx, topic, ANY),
    "eject with a negative lease": lambda tx, repository, topic, task: repository.eject(tx, topic, task, lease=-HOUR),
}


def test_wrong_arguments_are_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """They are errors before any statement: nothing changes and the transaction goes on (DESIGN 3)."""
    [task] = held(backend, repository, topic, "a")
    before = without(info(backend, repository, topic, task))
    refused = set()
    with backend.begin() as tx:
        for name, call in WRONG.items():
            try:
                call(tx, repository, topic, task)
            except InvalidTaskError:
                refused.add(name)
        repository.push(tx, topic, "witness")

    assert refused == set(WRONG)
    assert without(info(backend, repository, topic, task)) == before
    assert len(states(backend, repository, topic)) == 2
