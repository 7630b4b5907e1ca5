"""Slots are acquired by age, each by one holder, and come back from those who are gone."""

from datetime import timedelta

import pytest

from task_api import Claim, InvalidTaskError, LostTaskError, Revivification, UnknownOwnerError
from task_processor.slots.slots import TimeSlots
from tests.backends import Backend
from tests.conformance.scenes import Repository, run
from tests.siblings.slot_scenes import CLAIMS, FIVE, NOON, Slots, acquired, at, covered, numbers

pytestmark = [pytest.mark.backends("sqlite", "postgresql", "oracle"), pytest.mark.kinds("driver", "session")]


@CLAIMS
def test_the_oldest_slot_is_acquired_first(backend: Backend, slots: Slots, claim: Claim) -> None:
    """By time, whatever the order of creation (S3-06, S3-B1)."""
    for number in (3, 0, 2, 1):
        run(backend, slots.cover, at(number), at(number + 1))
    with backend.begin() as tx:
        found = [slots.acquire(tx, claim=claim) for _ in range(5)]
    assert [slot and slot.start for slot in found] == [at(0), at(1), at(2), at(3), None]


def test_acquiring_says_who_and_when(backend: Backend, slots: Slots) -> None:
    """A committed claim is seen by all, the slot is held (S3-05, S3-B2, S3-B4)."""
    run(backend, slots.cover, NOON, at(1))
    slot = acquired(backend, slots, lease=timedelta(minutes=1))
    assert (slot.holder, slot.creator, slot.failures) == ("me", "me", 0)
    assert slot.acquired is not None
    [held] = run(backend, slots.coverage, NOON, at(1)).held
    assert (held.holder, held.acquired) == ("me", slot.acquired)


def test_a_slot_held_by_an_open_transaction_is_open_to_others(
    backend: Backend, slots: Slots, repository: Repository
) -> None:
    """They keep seeing what was committed; a rollback or a crash leaves no trace (S3-07, S3-12)."""
    run(backend, slots.cover, NOON, at(1))
    tx = backend.open()
    slot = slots.acquire(tx, claim=Claim.TRANSACTION)
    assert slot is not None
    assert (slot.holder, slot.acquired) == (repository.owner, None)
    assert slots.acquire(tx, claim=Claim.TRANSACTION) is None
    if backend.name != "sqlite":  # where an open transaction keeps others out
        assert covered(backend, slots, 1) == {"open": [0]}
        assert run(backend, TimeSlots(backend.repository("other"), slots.topic, FIVE).acquire) is None
    backend.rollback(tx)
    backend.close(tx)
    [left] = run(backend, slots.coverage, NOON, at(1)).open
    assert (left.failures, left.holder, left.acquired) == (0, None, None)
    assert acquired(backend, slots).start == NOON


def test_the_slot_of_a_dead_holder_is_open_once_it_is_expired(
    backend: Backend, slots: Slots, repository: Repository, topic: str
) -> None:
    """A committed claim lasts until its owner is found silent; no failure is counted (S3-12, S3-B8)."""
    ghost = TimeSlots(backend.repository("ghost"), topic, FIVE)
    run(backend, slots.cover, NOON, at(1))
    run(backend, ghost.fail, acquired(backend, ghost), "no data yet")
    lost = acquired(backend, ghost)
    assert run(backend, slots.acquire) is None
    backend.age_owner("ghost", 3600)
    assert run(backend, slots.recover, timedelta(hours=2)) == 0
    run(backend, repository.expire, timedelta(minutes=30))
    assert covered(backend, slots, 1) == {"failed": [0]}
    assert run(backend, slots.acquire) is None
    assert run(backend, slots.recover, timedelta(minutes=30)) == 1
    [failed] = run(backend, slots.coverage, NOON, at(1)).failed
    assert (failed.failures, failed.message) == (1, "no data yet")
    run(backend, slots.complete, acquired(backend, slots))
    with pytest.raises(LostTaskError, match="2026-11-16T12:00:00"):
        run(backend, ghost.complete, lost)


def test_slots_whose_lease_has_ended_are_recovered(backend: Backend, slots: Slots) -> None:
    """All of them, in one call; the division stays what it is (S3-12, S3-B8)."""
    run(backend, slots.cover, NOON, at(4))
    for lease in (timedelta(), timedelta(hours=1), timedelta(), None):
        acquired(backend, slots, lease=lease)
    assert run(backend, slots.recover, timedelta(hours=1)) == 2
    assert covered(backend, slots, 4) == {"open": [0, 2], "held": [1, 3]}
    assert run(backend, slots.recover, timedelta(hours=1)) == 0


def test_an_expired_slot_counts_as_open(backend: Backend, slots: Slots, repository: Repository) -> None:
    """Nobody holds it, and it is still to be done (S3-17)."""
    run(backend, slots.cover, NOON, at(1))
    acquired(backend, slots, lease=timedelta())
    assert run(backend, repository.expire, timedelta(hours=1)) == 1
    assert covered(backend, slots, 1) == {"open": [0]}
    assert numbers(run(backend, slots.reopen, NOON)) == [0]
    assert acquired(backend, slots).start == NOON


def test_a_slot_that_is_gone_stands_for_nothing(backend: Backend, slots: Slots, repository: Repository) -> None:
    """A task that was recreated by an operator is followed by its copy."""
    run(backend, slots.cover, NOON, at(1))
    slot = acquired(backend, slots)
    run(backend, slots.complete, slot)
    assert slot.task is not None
    run(backend, repository.recreate, slots.topic, Revivification.APPEND, [slot.task])
    assert covered(backend, slots, 1) == {"open": [0]}
    assert run(backend, slots.cover, NOON, at(1)) == ()
    run(backend, slots.complete, acquired(backend, slots))
    assert covered(backend, slots, 1) == {"done": [0]}


def test_an_unregistered_owner_can_not_acquire(backend: Backend, slots: Slots, topic: str) -> None:
    """As with any poll (P7)."""
    run(backend, slots.cover, NOON, at(1))
    stranger = TimeSlots(backend.repository("stranger", register=False), topic, FIVE)
    with pytest.raises(UnknownOwnerError):
        run(backend, stranger.acquire)


def test_what_is_no_slot_is_named(backend: Backend, slots: Slots, repository: Repository, topic: str) -> None:
    """A topic holds its slots alone."""
    run(backend, repository.push, topic, "1 mistake")
    with pytest.raises(InvalidTaskError, match=r"1 mistake .* is no slot"):
        run(backend, slots.acquire)
