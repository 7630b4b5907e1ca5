"""``topiq slots``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_processor.slots.slots import TimeSlots

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]

NIGHT = datetime(2026, 11, 9, 22, tzinfo=UTC)
HOUR = timedelta(hours=1)
WINDOW = ("--start", "2026-11-09T21:30", "--end", "2026-11-10T05:00")
LEGEND = "# done 1   - skipped 1   . open 2   > held 1   ! failed 1   ? missing 2"


@pytest.fixture
def hours(backend: Backend, repository: TaskRepository[Any], topic: str) -> TimeSlots[Any]:
    """Six hours: one done, one skipped, one failed, one held, two open."""
    hours = TimeSlots(repository, topic, HOUR)
    with backend.begin() as tx:
        hours.cover(tx, NIGHT, NIGHT + 6 * HOUR)
        for decide, message in ((hours.complete, "12 rows"), (hours.skip, None), (hours.fail, "first\nno \x1bdata")):
            slot = hours.acquire(tx)
            assert slot is not None
            decide(tx, slot, message)
        hours.acquire(tx, NIGHT + 3 * HOUR)
    return hours


@pytest.mark.usefixtures("hours")
def test_slots_are_drawn_as_a_calendar(topiq: Topiq) -> None:
    """A row for a day, a sign for a slot, a legend, and what somebody may have to look after (S3-17)."""
    first, second, legend, nothing, header, failed, held = topiq("slots", "topic", *WINDOW).splitlines()
    assert first == "2026-11-09 00:00  " + " " * 21 + "?#-"
    assert second == "2026-11-10 00:00  !>..?"
    assert (legend, nothing) == (LEGEND, "")
    assert header.split() == ["start", "failures", "holder", "acquired", "message"]
    assert failed.split()[:5] == ["failed", "2026-11-10", "00:00:00", "1", "me"]
    assert failed.endswith(r"no \x1bdata")
    assert held.split()[:5] == ["held", "2026-11-10", "01:00:00", "0", "me"]


@pytest.mark.usefixtures("hours")
def test_slots_are_json_for_scripts(topiq: Topiq) -> None:
    """All fields of every slot in the order of time, with the state that it is in (S3-17, S3-B4)."""
    found = topiq.json("slots", "topic", *WINDOW)
    slots = found.pop("slots")
    assert found == {
        "topic": "topic",
        "interval": 3600.0,
        "origin": "1970-01-01T00:00:00+00:00",
        "start": "2026-11-09T21:00:00+00:00",
        "end": "2026-11-10T05:00:00+00:00",
        "counts": {"done": 1, "skipped": 1, "open": 2, "held": 1, "failed": 1, "missing": 2},
    }
    states = ["missing", "done", "skipped", "failed", "held", "open", "open", "missing"]
    assert [slot["state"] for slot in slots] == states
    done = slots[1]
    assert (done["start"], done["end"]) == ("2026-11-09T22:00:00+00:00", "2026-11-09T23:00:00+00:00")
    assert (done["message"], done["failures"], done["holder"], done["creator"]) == ("12 rows", 0, "me", "me")
    assert None not in (done["created"], done["acquired"], done["completed"])
    assert slots[3]["message"] == "first\nno \x1bdata"


@pytest.mark.usefixtures("hours")
def test_a_date_is_a_whole_day(topiq: Topiq) -> None:
    """As the start its beginning, as the end its end."""
    found = topiq.json("slots", "topic", "--start", "2026-11-09", "--end", "2026-11-10")
    assert (found["start"], found["end"]) == ("2026-11-09T00:00:00+00:00", "2026-11-11T00:00:00+00:00")
    assert sum(found["counts"].values()) == 48


def test_without_a_start_the_last_rows_are_shown(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Before the slot that runs, from the first one on that was created."""
    days = TimeSlots(repository, topic, timedelta(days=1))
    now = datetime.now(UTC)
    with backend.begin() as tx:
        days.cover(tx, now - timedelta(days=4), now - timedelta(days=2))
        days.cover(tx, now - timedelta(days=1), now + timedelta(days=9))
    found = topiq.json("slots", "topic")
    assert [slot["state"] for slot in found["slots"]] == ["open", "open", "missing", "open"]
    assert found["end"] == days.align(now).isoformat()
    said = topiq("slots", "topic").splitlines()
    assert said[-1] == "# done 0   - skipped 0   . open 3   > held 0   ! failed 0   ? missing 1"
    assert "".join(line[18:].strip() for line in said[:-1]) == "..?."


def test_nothing_is_missing_of_what_is_covered_until_now(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """The slot that runs is not to be done yet (S3-17)."""
    now = datetime.now(UTC)
    with backend.begin() as tx:
        TimeSlots(repository, topic, timedelta(days=1)).cover(tx, now - timedelta(days=3), now)
    counts = topiq.json("slots", "topic")["counts"]
    assert (counts["open"], counts["missing"]) == (3, 0)


@pytest.mark.parametrize(
    ("interval", "rows"),
    [
        (timedelta(seconds=1), [60, 30]),
        (timedelta(minutes=1), [60, 30]),
        (timedelta(minutes=5), [72, 28]),
        (timedelta(hours=6), [28, 2]),
        (timedelta(days=1), [28, 2]),
        (timedelta(days=60), [82, 18]),
        (timedelta(milliseconds=100), [82, 18]),
    ],
)
def test_rows_are_as_long_as_fits(topiq: Topiq, backend: Backend, interval: timedelta, rows: list[int]) -> None:
    """The longest of a minute, ten, an hour, six, a day, a week and four."""
    repository, start = backend.repository(), datetime(1970, 1, 5, tzinfo=UTC)
    slots, end = TimeSlots(repository, "topic", interval, start), start + sum(rows) * interval
    with backend.begin() as tx:
        repository.initialize(tx, "topic")
        slots.cover(tx, start, end)
    said = topiq("slots", "topic", "--start", start.isoformat(), "--end", end.isoformat()).splitlines()
    assert [len(line[18:].strip()) for line in said[:-1]] == rows


def test_mistakes_are_told(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """In a line, with the exit code of every command."""
    assert topiq.fails("slots", "tropic")[0] == 5
    assert topiq.fails("slots", "topic") == (5, "topic 'topic' has no time slots; TimeSlots.cover creates them")
    with backend.begin() as tx:
        TimeSlots(repository, topic, timedelta(seconds=1)).cover(tx, NIGHT, NIGHT + timedelta(seconds=2))
    assert topiq.fails("slots", "topic", "--start", "2000-01-01")[0] == 2
    assert topiq.fails("slots", "topic", "--start", "never")[0] == 2
    code, line = topiq.fails("slots", "topic", "--start", "2026-11-02", "--end", "2026-11-01T00:00")
    assert (code, line.startswith("end must not lie before start")) == (2, True)


@pytest.mark.parametrize(
    "chosen", [("--start", "2026-11-01", "--end", "9999-12-31"), ("--end", "9999-12-31"), ("--end", "0001-01-03")]
)
def test_there_are_no_slots_beyond_the_calendar(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str, chosen: tuple[str, ...]
) -> None:
    """Nor rows of them."""
    with backend.begin() as tx:
        TimeSlots(repository, topic, timedelta(days=1)).cover(tx, NIGHT, NIGHT + timedelta(days=1))
    assert topiq.fails("slots", "topic", *chosen) == (
        2,
        "that reaches beyond the years 1 to 9999; choose --start and --end well between them",
    )
