"""Times as people write and read them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

__all__ = ["ago", "parse_due", "parse_duration", "parse_moment", "shown", "span"]

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d|w)\s*")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_SECONDS = re.compile(r"\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def parse_duration(text: str) -> timedelta:
    """Read ``90s``, ``10m``, ``1h30m``, ``7d``; a plain number means seconds."""
    stripped = text.strip()
    if _SECONDS.fullmatch(stripped):
        return span(text, float(stripped))
    if _DURATION.fullmatch(stripped):
        return span(text, sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(stripped)))
    message = f"{text!r} is no duration; write for example 90s, 10m, 1h30m or 7d"
    raise ValueError(message)


def parse_moment(text: str) -> datetime | date:
    """Read a date, a date with a time (UTC unless it says otherwise), ``now``, or a duration ago."""
    stripped = text.strip()
    try:
        if stripped.lower() == "now":
            return datetime.now(UTC)
        if _DURATION.fullmatch(stripped):
            return datetime.now(UTC) - parse_duration(stripped)
        return date.fromisoformat(stripped) if _DATE.fullmatch(stripped) else _aware(stripped)
    except (ValueError, OverflowError) as error:
        message = f"{text!r} is no time; write for example 2026-11-01, 2026-11-01T18:00, now, or 7d for a week ago"
        raise ValueError(message) from error


def parse_due(text: str) -> datetime | timedelta:
    """Read a moment to come (UTC unless it says otherwise), ``now``, or a duration from now."""
    stripped = text.strip()
    if stripped.lower() == "now":
        return timedelta(0)
    if _DURATION.fullmatch(stripped):
        return parse_duration(stripped)
    try:
        return _aware(stripped)
    except ValueError as error:
        message = f"{text!r} is no time; write for example 10m, 1h30m, now or 2026-11-01T18:00"
        raise ValueError(message) from error


def shown(moment: datetime | None) -> str:
    """Return a time in UTC to the second, as tables show it."""
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def ago(time: timedelta) -> str:
    """Return a length of time, short."""
    seconds = max(time.total_seconds(), 0)
    if seconds < 9.95:  # noqa: PLR2004 - from here on a tenth of a second is noise
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02} s"
    if whole < _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02} min"
    return f"{whole // _DAY} d {whole % _DAY // _HOUR:02} h"


def span(text: object, seconds: float) -> timedelta:
    """Return so many seconds, which the user wrote like that."""
    try:
        return timedelta(seconds=seconds)
    except (OverflowError, ValueError) as error:
        message = f"{repr(text)[:40]} is too long a time"
        raise ValueError(message) from error


def _aware(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
