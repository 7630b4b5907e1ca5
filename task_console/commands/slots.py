"""``topiq slots``."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final

import click
from rich.text import Text

from task_console.errors import Exit, Failure
from task_console.moments import shown
from task_console.options import MOMENT, connected, topic_argument
from task_console.render import FLEXIBLE, RIGHT, plain, table
from task_processor.slots.slot import COLLECTIONS, SlotCoverage
from task_processor.slots.slots import TimeSlots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from task_console.database import Database
    from task_console.render import Output
    from task_processor.slots.slot import TimeSlot

__all__ = ["slots"]

_SIGNS: Final = {
    "done": ("#", "green"),
    "skipped": ("-", "dim"),
    "open": (".", ""),
    "held": (">", "cyan"),
    "failed": ("!", "red"),
    "missing": ("?", "yellow"),
}
_PERIODS: Final = tuple(
    timedelta(minutes=minutes) for minutes in (1, 10, 60, 6 * 60, 24 * 60, 7 * 24 * 60, 28 * 24 * 60)
)
"""What a row may stand for."""
_MONDAY: Final = datetime(1970, 1, 5, tzinfo=UTC)
"""Where rows begin."""
_LABEL: Final = len("2026-11-16 00:00  ")
_WIDTH: Final = 100
"""How wide a strip is without a terminal."""
_ROWS: Final = 28
"""How many rows are shown unless a start is given."""
_MOST: Final = 200_000
_COLUMNS: Final = ("start", "end", "failures", "message", "holder", "creator", "created", "acquired", "completed")


@click.command()
@topic_argument
@click.option("--start", type=MOMENT, help="From the slot on that this time lies in: 2026-11-01, or 7d for a week ago.")
@click.option(
    "--end",
    type=MOMENT,
    help="Before the slot that this time lies in; a date means its end. By default now.",
)
@connected
def slots(
    topic: str, start: datetime | date | None, end: datetime | date | None, database: Database, output: Output
) -> None:
    """
    Show how time is covered by the slots of a topic, as a calendar, and which of them are held or failed.

    Without --start, the last rows are shown, from the first slot on that was created. JSON: {topic, interval in
    seconds, origin, start, end, counts, slots}, where each slot has a state beside its fields.
    """
    with database.read() as tx:
        database.require_topics(tx, topic)
        found = TimeSlots.stored(database.repository, tx, topic)
        if found is None:
            message = f"topic {topic!r} has no time slots; TimeSlots.cover creates them"
            raise Failure(message, Exit.UNKNOWN)
        period = _period(found.interval, (output.width or _WIDTH) - _LABEL)
        try:
            coverage = found.coverage(tx, *_window(found, start, end, period))
        except OverflowError as error:
            message = "that reaches beyond the years 1 to 9999; choose --start and --end well between them"
            raise Failure(message, Exit.USAGE) from error
    if start is None:
        coverage = _trimmed(coverage)
    output.answer(_jsonable(found, coverage), *_strip(coverage, found.interval, period), *_details(coverage, output))


def _window(
    found: TimeSlots[Any], start: datetime | date | None, end: datetime | date | None, period: timedelta
) -> tuple[datetime, datetime]:
    """Return from where to where slots are shown."""
    last = found.align(datetime.now(UTC) if end is None else _border(end, whole=True))
    first = _row(last, period) - (_ROWS - 1) * period if start is None else _border(start)
    if (last - first) // found.interval > _MOST:
        message = f"that is more than {_MOST} slots of {found.interval}; choose --start and --end closer together"
        raise Failure(message, Exit.USAGE)
    return first, last


def _border(moment: datetime | date, *, whole: bool = False) -> datetime:
    """Turn a date into the moment at which it begins, or ends."""
    if isinstance(moment, datetime):
        return moment
    return datetime.combine(moment, time(), UTC) + timedelta(days=whole)


def _period(interval: timedelta, room: int) -> timedelta:
    """Choose what a row stands for: the longest time that fits."""
    fitting = [period for period in _PERIODS if interval <= period <= room * interval]
    return max(fitting, default=max(room, 1) * interval)


def _row(moment: datetime, period: timedelta) -> datetime:
    return moment - (moment - _MONDAY) % period


def _trimmed(coverage: SlotCoverage) -> SlotCoverage:
    """Leave out what lies before the first slot that was created."""
    first = next((slot.start for name, slot in coverage if name != "missing"), coverage.end)
    missing = tuple(slot for slot in coverage.missing if slot.start >= first)
    kept = {name: getattr(coverage, name) for name in COLLECTIONS} | {"missing": missing}
    return SlotCoverage(first, coverage.end, **kept)


def _strip(coverage: SlotCoverage, interval: timedelta, period: timedelta) -> Iterator[Text]:
    rows: dict[datetime, Text] = {}
    for name, slot in coverage:
        begin = _row(slot.start, period)
        row = rows.setdefault(begin, Text(f"{begin:%Y-%m-%d %H:%M}".ljust(_LABEL)))
        row.append(" " * (_LABEL + (slot.start - begin) // interval - len(row)))
        row.append(*_SIGNS[name])
    yield from rows.values()
    legend = Text()
    for name, (sign, style) in _SIGNS.items():
        legend.append("   " if legend else "").append(sign, style).append(f" {name} {len(getattr(coverage, name))}")
    yield legend


def _details(coverage: SlotCoverage, output: Output) -> Iterator[RenderableType]:
    """Tell more of the slots that somebody may have to look after."""
    rows = [
        (name, shown(slot.start), slot.failures, slot.holder or "", shown(slot.acquired), _last_line(slot))
        for name, slot in coverage
        if name in ("held", "failed")
    ]
    if rows:
        header = {"": {}, "start": {}, "failures": RIGHT, "holder": FLEXIBLE, "acquired": {}, "message": FLEXIBLE}
        yield ""
        yield table(header, rows, width=output.width)


def _last_line(slot: TimeSlot) -> Text:
    """Return the line of a message that says most: of a trace, the error."""
    lines = (slot.message or "").strip().splitlines()
    return plain(lines[-1] if lines else "")


def _jsonable(found: TimeSlots[Any], coverage: SlotCoverage) -> dict[str, Any]:
    return {
        "topic": found.topic,
        "interval": found.interval.total_seconds(),
        "origin": found.origin,
        "start": coverage.start,
        "end": coverage.end,
        "counts": {name: len(getattr(coverage, name)) for name in COLLECTIONS},
        "slots": [{"state": name} | {key: getattr(slot, key) for key in _COLUMNS} for name, slot in coverage],
    }
