"""``topiq purge``: what is finished and no longer wanted."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import click

from task_api import FINISHED, INCEPTION, MAX_SEQUENCE, Counting, TaskState
from task_console import queries
from task_console.options import MOMENT, SEQUENCE, EnumType, connected, topic_argument, yes_option
from task_console.progress import progress
from task_console.words import counted

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from task_console.database import Database
    from task_console.render import Output

__all__ = ["purge"]

_PURGEABLE = frozenset(TaskState) - {TaskState.ACTIVE}


@click.command()
@topic_argument
@click.option("--before", type=MOMENT, help="Tasks pushed before this time: 2026-11-01, or 30d for a month ago.")
@click.option("--last", type=SEQUENCE, help="Tasks up to this sequence.")
@click.option(
    "--state",
    "states",
    type=EnumType(TaskState, only=_PURGEABLE),
    multiple=True,
    help="Only tasks in this state; may be repeated. By default those that are finished:"
    " FAILED, FILTERED, SUCCEEDED, RECREATED and REDUNDANT.",
)
@click.option(
    "--chunk",
    type=click.IntRange(min=1, max=1_000_000),
    default=10_000,
    show_default=True,
    help="How many to delete in one transaction.",
)
@yes_option
@connected
def purge(
    topic: str,
    *,
    before: datetime | date | None,
    last: int | None,
    states: tuple[TaskState, ...],
    chunk: int,
    yes: bool,
    database: Database,
    output: Output,
) -> None:
    """
    Delete tasks of a topic for good, in chunks, each committed.

    Shows how many they are and asks, unless --yes. Tasks that somebody has locked are left. How far it goes is
    said by --before or --last; of both, the one that reaches less far counts.

    JSON: {found, purged}.
    """
    if before is None and last is None:
        message = "say how far: --before TIME or --last SEQUENCE"
        raise click.UsageError(message)
    chosen = frozenset(states) or FINISHED
    with database.read() as tx:
        database.require_topics(tx, topic)
        until = min(_until(tx, before, database), MAX_SEQUENCE if last is None else last)
        counts = database.repository.count(tx, counting=Counting(topic=topic), last=until)[topic]
    found = {state: summary.count for state, summary in sorted(counts.items()) if state in chosen}
    total = sum(found.values())
    if not total:
        output.answer({"found": 0, "purged": 0}, f"{topic} has no such tasks")
        return
    parts = ", ".join(f"{number} {state.name}" for state, number in found.items())
    output.note(f"{counted(total, 'task')} of {topic}, up to sequence {until}: {parts}")
    output.confirm(f"Delete {'it' if total == 1 else f'these {total} tasks'} for good?", yes=yes)
    purged = _purge(topic, chosen, until=until, chunk=chunk, total=total, database=database, output=output)
    said = counted(purged, f"task of {topic} is deleted", f"tasks of {topic} are deleted")
    if purged < total:
        said += f"; {counted(total - purged, 'was', 'were')} locked or changed meanwhile"
    output.answer({"found": total, "purged": purged}, said)


def _purge(
    topic: str,
    states: frozenset[TaskState],
    *,
    until: int,
    chunk: int,
    total: int,
    database: Database,
    output: Output,
) -> int:
    purged, first = 0, INCEPTION
    with progress(output, "deleting", total) as advance:
        while first <= until:
            with database.write() as tx:
                end = queries.chunk_end(tx, topic, states, first=first, last=until, size=chunk)
                if end is None:
                    break
                number = database.repository.purge(tx, topic, states=states, first=first, last=end)
            first = end + 1
            purged += number
            advance(number)
    return purged


def _until(tx: Connection, before: datetime | date | None, database: Database) -> int:
    """Return the last sequence that was pushed before a time, which itself is not included."""
    if before is None:
        return MAX_SEQUENCE
    try:
        earlier = before - (timedelta(microseconds=1) if isinstance(before, datetime) else timedelta(days=1))
    except OverflowError as error:
        message = f"nothing lies before {before}"
        raise click.UsageError(message) from error
    return database.repository.resolve(tx, earlier, preceding=True)
