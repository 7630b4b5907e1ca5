"""How time is divided into slots."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task_api import InvalidTaskError
from task_processor.slots.grid import HIGHEST, LOWEST, SlotGrid, identifier, parse_identifier
from task_processor.slots.slots import TimeSlots
from task_sql import SqliteTaskRepository

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
FIVE = timedelta(minutes=5)

Case: TypeAlias = tuple[datetime, timedelta, datetime, datetime]

moments = st.datetimes(datetime(1000, 1, 1), datetime(3000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - aware by that
intervals = st.timedeltas(timedelta(microseconds=1), timedelta(days=400))


def slots(interval: Any = FIVE, origin: Any = NOON) -> TimeSlots[Any]:  # noqa: ANN401 - wrong ones too
    """Slots of a repository that is never asked."""
    return TimeSlots(SqliteTaskRepository("me"), "topic", interval, origin)


@pytest.mark.parametrize(
    "case",
    [
        (NOON + timedelta(minutes=4, seconds=59), FIVE, NOON, NOON),
        (NOON, FIVE, NOON, NOON),
        (NOON - timedelta(microseconds=1), FIVE, NOON, NOON - FIVE),
        (NOON, FIVE, NOON + timedelta(days=400, minutes=2), NOON - timedelta(minutes=3)),
        (datetime(1969, 12, 31, 23, 59, tzinfo=UTC), FIVE, NOON, datetime(1969, 12, 31, 23, 55, tzinfo=UTC)),
        (NOON.astimezone(timezone(timedelta(hours=5, minutes=45))), timedelta(hours=1), NOON, NOON),
        (NOON, timedelta(days=7), datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 11, 16, tzinfo=UTC)),
    ],
)
def test_times_are_aligned_down(case: Case) -> None:
    """To the greatest origin + k x interval that is not after them, in UTC (S3-04)."""
    moment, interval, origin, expected = case
    aligned = slots(interval, origin).align(moment)
    assert (aligned, aligned.tzinfo) == (expected, UTC)


def test_slots_begin_with_1970_unless_told_otherwise() -> None:
    """Then days begin at midnight, in UTC (S3-04)."""
    daily = TimeSlots(SqliteTaskRepository("me"), "topic", timedelta(days=1))
    assert daily.align(NOON) == datetime(2026, 11, 16, tzinfo=UTC)


@given(moments, intervals, moments)
def test_any_time_is_aligned_to_the_microsecond(moment: datetime, interval: timedelta, origin: datetime) -> None:
    """Whatever the origin; an aligned time stays where it is (S3-04, S3-B5)."""
    grid = SlotGrid.of(interval, origin)
    aligned = grid.align("moment", moment)
    assert aligned <= moment < aligned + interval
    assert not (aligned - origin) % interval
    assert grid.align("moment", aligned) == aligned
    assert grid == SlotGrid.of(interval, aligned)
    assert SlotGrid.read(grid.text) == grid


@given(moments, moments)
def test_names_sort_as_times_do(one: datetime, other: datetime) -> None:
    """By code points, and each is read back as it was (S3-B5)."""
    assert (identifier(one) < identifier(other)) == (one < other)
    assert parse_identifier(identifier(one)) == one
    assert LOWEST < identifier(one) < HIGHEST


@pytest.mark.parametrize(
    "text", ["", "~slots", "2026-11-16", "2026-11-16T12:00:00.000000+", "2026-11-16T25:00:00.000000Z"]
)
def test_other_names_are_no_slots(text: str) -> None:
    """Nothing else is taken for one."""
    assert parse_identifier(text) is None


@pytest.mark.parametrize(
    ("interval", "origin", "message"),
    [
        (timedelta(), NOON, "interval must be longer than nothing"),
        (-FIVE, NOON, "interval must be longer than nothing"),
        (300, NOON, "interval must be a timedelta, not int"),
        (timedelta.max, datetime(1900, 1, 1, tzinfo=UTC), "interval must be shorter"),
        (FIVE, NOON.replace(tzinfo=None), "origin must be an aware datetime, give it a time zone"),
        (FIVE, datetime.min.replace(tzinfo=timezone(timedelta(hours=1))), "origin has no time in UTC"),
        (FIVE, "noon", "origin must be an aware datetime, not str"),
    ],
)
def test_a_wrong_division_is_refused(interval: object, origin: object, message: str) -> None:
    """Before anything is sent."""
    with pytest.raises(InvalidTaskError, match=message):
        slots(interval, origin)
