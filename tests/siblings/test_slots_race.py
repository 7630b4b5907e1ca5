"""Slots under real processes: created once, completed once, none missing, whatever dies (P1, P2)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from task_processor.slots.slots import TimeSlots
from tests.conformance.scenes import run
from tests.siblings.slot_roles import DEADLY, INTERVAL, START, cover, deliver, divide, end_of, work
from tests.siblings.slot_yard import race

if TYPE_CHECKING:
    from pathlib import Path

    from tests.backends import Backend
    from tests.conformance.scenes import Repository

pytestmark = [pytest.mark.backends("sqlite", "postgresql"), pytest.mark.kinds("connection")]

CROWD = 8
SLOTS = 500


@pytest.fixture
def slots(backend: Backend, repository: Repository, topic: str) -> TimeSlots[Any]:
    """The slots, none of which is there; and a table for what is done for them."""
    backend.sql("CREATE TABLE effect (slot VARCHAR(40), kind VARCHAR(20))")
    return TimeSlots(repository, topic, INTERVAL)


def effects(backend: Backend, kind: str) -> Counter[str]:
    """How often something was done for each slot."""
    return Counter(slot for (slot,) in backend.sql("SELECT slot FROM effect WHERE kind = :kind", kind=kind))


def test_each_slot_is_created_once(backend: Backend, slots: TimeSlots[Any], repository: Repository) -> None:
    """Of eight who cover the same stretch at the same time one creates each slot, and knows it (S3-02, S3-03)."""
    created = race(CROWD, cover, backend.url, SLOTS)
    counted = Counter(start for starts in created for start in starts)
    number = SLOTS + 15  # the last piece reaches further
    assert counted == {slot.start.isoformat(): 1 for _, slot in _covered(backend, slots, number)}
    assert len(_covered(backend, slots, number).open) == number
    assert len(run(backend, repository.page, slots.topic, size=10_000)) == number + 1


@pytest.mark.usefixtures("slots")
def test_a_topic_is_divided_by_one(backend: Backend) -> None:
    """Of eight who divide it differently at the same time one wins, and the others are told (S3-B6)."""
    answers = race(CROWD, divide, backend.url)
    [winner] = [answer for answer in answers if "overlap" not in answer]
    others = [answer for answer in answers if "overlap" in answer]
    assert len(others) == CROWD - 1
    assert all(f"those of {winner} from" in answer for answer in others)


@pytest.mark.timeout(240)
def test_each_slot_is_completed_once_whatever_dies(backend: Backend, slots: TimeSlots[Any], tmp_path: Path) -> None:
    """Eight workers die dozens of times in the middle of work; no slot is lost or done twice (S3-12, S3-17, S3-18)."""
    run(backend, slots.cover, START, end_of(SLOTS))
    deaths = race(CROWD, work, backend.url, SLOTS, tmp_path)
    coverage = _covered(backend, slots, SLOTS)

    assert sum(deaths) == SLOTS // DEADLY
    assert len(coverage.done) == SLOTS
    assert coverage.covered
    assert effects(backend, "effect") == {str(slot.start): 1 for slot in coverage.done}
    failures = {str(slot.start): slot.failures for slot in coverage.done if slot.failures}
    assert failures
    assert effects(backend, "failure") == failures


@pytest.mark.timeout(240)
def test_no_late_data_is_missed(backend: Backend, slots: TimeSlots[Any]) -> None:
    """Whoever reopens a slot with its data, against those who report: every report has all data (S3-13, S3-14)."""
    number = 10
    run(backend, slots.cover, START, end_of(number))
    race(CROWD, deliver, backend.url, number)
    data = effects(backend, "data")
    assert data.total() == 160
    reports = {str(slot.start): int(slot.message or 0) for slot in _covered(backend, slots, number).done}
    assert reports == {str(slot): data[slot] for slot in reports}
    assert len(reports) == number


def _covered(backend: Backend, slots: TimeSlots[Any], number: int) -> Any:  # noqa: ANN401 - a coverage
    return run(backend, slots.coverage, START, end_of(number))
