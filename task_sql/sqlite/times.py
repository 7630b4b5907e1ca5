"""Times on SQLite: UTC text that sorts as it reads, by the database's clock."""

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["NOW", "from_now", "modifier", "parse", "text"]

NOW: Final = "strftime('%Y-%m-%d %H:%M:%f', 'now')"
"""The present time, as SQL."""


def from_now(parameter: str) -> str:
    """Return SQL for a time from now, given as a modifier; NULL stays NULL."""
    return f"strftime('%Y-%m-%d %H:%M:%f', 'now', :{parameter})"


def modifier(span: timedelta | None) -> str | None:
    """Turn a time from now into what SQLite's functions take."""
    return None if span is None else f"{span.total_seconds():+f} seconds"


def text(moment: datetime | None) -> str | None:
    """Turn an aware moment into the form that is stored."""
    if moment is None:
        return None
    full = moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")
    return full.removesuffix("000")  # as the clock writes it, so that equal times are equal texts


def parse(value: object) -> datetime | None:
    """Turn what is stored into an aware moment."""
    return None if value is None else datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
