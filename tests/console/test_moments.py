"""Times as people write and read them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from task_console.moments import ago, parse_due, parse_duration, parse_moment, shown


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("10min", 600),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("7d", 604800),
        ("2w", 1209600),
        ("1.5s", 1.5),
        ("250ms", 0.25),
        ("42", 42),
        ("0", 0),
    ],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    """Units may be combined; a number alone means seconds."""
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "soon", "-5s", "5x", "1h-2m", "s", "9" * 30 + "d"])
def test_other_durations_are_refused(text: str) -> None:
    """With a sentence, also where the number is too large."""
    with pytest.raises(ValueError, match=r"is no duration|is too long a time"):
        parse_duration(text)


def test_moments_are_read() -> None:
    """Dates stay dates, moments without a zone are UTC, and durations are ago."""
    now = datetime.now(UTC)
    assert parse_moment("2026-11-01") == date(2026, 11, 1)
    assert parse_moment("2026-11-01T18:00") == datetime(2026, 11, 1, 18, tzinfo=UTC)
    assert parse_moment("2026-11-01 18:00:00+02:00") == datetime(2026, 11, 1, 16, tzinfo=UTC)
    for text, span in (("now", timedelta()), ("2h", timedelta(hours=2))):
        moment = parse_moment(text)
        assert isinstance(moment, datetime)
        assert timedelta() <= moment - (now - span) < timedelta(minutes=1)


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-02-30", "2026-11-01T25:00", "5", "999999d"])
def test_other_moments_are_refused(text: str) -> None:
    """With examples."""
    with pytest.raises(ValueError, match="is no time; write for example"):
        parse_moment(text)


def test_due_times_are_read() -> None:
    """A duration is from now, by the database's clock."""
    assert parse_due("10m") == timedelta(minutes=10)
    assert parse_due("2026-11-01T18:00") == datetime(2026, 11, 1, 18, tzinfo=UTC)
    assert parse_due("2026-11-01") == datetime(2026, 11, 1, tzinfo=UTC)
    assert parse_due("now") == parse_due(" NOW ") == timedelta(0)
    with pytest.raises(ValueError, match="is no time"):
        parse_due("later")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.0 s"),
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "9 s"),
        (59.99, "59 s"),
        (60, "1 min 00 s"),
        (3599.9, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (86399, "23 h 59 min"),
        (90000, "1 d 01 h"),
    ],
)
def test_lengths_of_time_are_short(seconds: float, text: str) -> None:
    """The larger, the coarser, and never rounded up to the next unit."""
    assert ago(timedelta(seconds=seconds)) == text


def test_moments_are_shown_in_utc() -> None:
    """None is shown as nothing."""
    assert shown(datetime.fromisoformat("2026-11-01T18:00:00.123+02:00")) == "2026-11-01 16:00:00"
    assert shown(None) == ""
