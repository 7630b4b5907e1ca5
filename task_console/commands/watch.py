"""``topiq watch``: depths, rates and owners, live on a terminal, line by line elsewhere."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click
from rich.console import Group
from rich.live import Live
from rich.text import Text

from task_api import TaskState
from task_console.database import answering
from task_console.errors import Failure
from task_console.moments import ago, shown
from task_console.options import DURATION, connected
from task_console.render import FLEXIBLE, RIGHT, as_json, plain, table
from task_console.sample import OPEN, take
from task_console.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from rich.console import Console, RenderableType

    from task_console.database import Database
    from task_console.render import Output
    from task_console.sample import OwnerSample, Sample, TopicSample

__all__ = ["watch"]

_SHORT = {TaskState.SUSPENDED: "SUSP", TaskState.EXPIRED: "EXP", TaskState.FAILED: "FAIL"}
_ALARMING = {TaskState.EXPIRED: "yellow", TaskState.FAILED: "red"}
_WIDE = 120
_THOUSAND = 1000
_FRAME = 10
"""Lines of the live view that are no rows."""
_SHARE = 4
"""How many times longer than a look took the pause is at least, so that looking costs the database little."""


@click.command()
@click.argument("topics", nargs=-1, metavar="[TOPIC]...")
@click.option("--interval", type=DURATION, default="2s", show_default=True, help="How long between two looks.")
@click.option("--window", type=DURATION, default="10s", show_default=True, help="Over which time rates are taken.")
@click.option("--timeout", type=DURATION, default="1m", show_default=True, help="Silent for so long is dead.")
@click.option("--samples", type=click.IntRange(min=1), help="Stop after so many looks; by default with Ctrl-C.")
@connected
def watch(
    topics: tuple[str, ...],
    *,
    interval: timedelta,
    window: timedelta,
    timeout: timedelta,
    samples: int | None,
    database: Database,
    output: Output,
) -> None:
    """
    Watch depths, rates, the oldest READY task, owners and their heartbeats.

    Live on a terminal. Elsewhere there is a line for each topic and owner at each look. A database that goes away is
    waited for.

    JSON, a line at each look: {moment, topics: [{topic, activation, counts, pushed, decided, oldest}], owners:
    [{owner, alive, silent, registered, active, longest}]}. Rates are per second, other times in seconds.
    """
    if window <= timedelta():
        message = "the window must be longer than nothing"
        raise click.UsageError(message)
    looks = _looks(database, topics, interval=interval, window=window, timeout=timeout, samples=samples)
    try:
        if not output.json and output.console.is_terminal:
            _live(looks, database, output.console)
            return
        for look in looks:
            if isinstance(look, Failure):
                click.echo(look.message, err=True)
            elif output.json:
                click.echo(as_json(look.as_value(), indent=None))
            else:
                click.echo("\n".join(_lines(look)))
    except KeyboardInterrupt:
        click.echo(err=True)


def _looks(
    database: Database,
    topics: Collection[str],
    *,
    interval: timedelta,
    window: timedelta,
    timeout: timedelta,
    samples: int | None,
) -> Iterator[Sample | Failure]:
    """Look again and again. The first failure is the command's, later ones are told and passed over."""
    number = 0
    while samples is None or number < samples:
        started = time.monotonic()
        try:
            with answering(database.url):
                look: Sample | Failure = take(database, topics, window, timeout)
        except Failure as failure:
            if not number:
                raise
            look = failure
        took = time.monotonic() - started
        yield look
        number += 1
        if number != samples:
            time.sleep(max(interval.total_seconds(), took * _SHARE))


def _live(looks: Iterator[Sample | Failure], database: Database, console: Console) -> None:
    view: RenderableType = ""
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for look in looks:
            if isinstance(look, Failure):
                live.update(Group(view, Text(f"{look.message}; trying again", "red")), refresh=True)
                continue
            view = _view(look, str(database), console)
            live.update(view, refresh=True)


def _view(look: Sample, database: str, console: Console) -> Group:
    """Return what fits the terminal: the deepest topics and the owners that matter."""
    room = max(console.height - _FRAME, 2)
    owners = _mattering(look)
    shown_owners = owners[: max(room - len(look.topics), room // 3)]
    topics = look.topics
    if len(topics) > (fitting := max(room - len(shown_owners), 1)):
        topics = sorted(topics, key=_depth, reverse=True)[:fitting]
    title = Text.assemble(("topiq watch", "bold"), f"  {shown(look.moment)} UTC  ", (database, "dim"))
    title.no_wrap, title.overflow = True, "ellipsis"
    hidden = (
        _more(len(look.topics) - len(topics), "topic", "topics"),
        _more(len(owners) - len(shown_owners), "owner", "owners"),
        _more(len(look.owners) - len(owners), "silent one that holds nothing", "silent ones that hold nothing"),
    )
    note = Text("  ".join(part for part in hidden if part) or "Ctrl-C ends", "dim", no_wrap=True)
    return Group(
        title,
        _topic_table(topics, console.width),
        _owner_table(shown_owners, console.width)
        if shown_owners
        else Text("  no owner is alive or holds a task\n", "yellow"),
        note,
    )


def _topic_table(topics: Collection[TopicSample], width: int) -> RenderableType:
    wide = width >= _WIDE
    header: dict[str, Mapping[str, Any]] = {"topic": FLEXIBLE}
    header |= {state.name if wide else _SHORT.get(state, state.name): RIGHT for state in OPEN}
    header |= {"in/s": RIGHT, "out/s": RIGHT, "oldest READY" if wide else "oldest": RIGHT}
    return table(header, [_topic_row(one, wide=wide) for one in topics], width=width)


def _topic_row(one: TopicSample, *, wide: bool) -> tuple[object, ...]:
    name = plain(one.topic)
    if one.activation is False:
        name = Text.assemble(("PAUSED ", "yellow"), name)
    counts = [
        Text(_number(number, wide=wide), _ALARMING.get(state, "") if number else "dim")
        for state, number in one.counts.items()
    ]
    oldest = "" if one.oldest is None else ago(one.oldest)
    return (name, *counts, _rate(one.pushed), _rate(one.decided), oldest if wide else oldest.replace(" ", ""))


def _owner_table(owners: Collection[OwnerSample], width: int) -> RenderableType:
    header: dict[str, Mapping[str, Any]] = {
        "owner": FLEXIBLE,
        "heartbeat": RIGHT,
        "holds": RIGHT,
        "longest": RIGHT,
    }
    return table(header, [_owner_row(one) for one in owners], width=width)


def _owner_row(one: OwnerSample) -> tuple[object, ...]:
    beat = "not registered" if one.silent is None else ago(one.silent) + ("" if one.alive else " DEAD")
    return (
        one.owner,
        Text(beat, "" if one.alive else "red"),
        f"{one.active:,}",
        "" if one.longest is None else ago(one.longest),
    )


def _lines(look: Sample) -> Iterator[str]:
    """Return the look as lines that a person can read and grep can find."""
    moment = look.moment.isoformat(timespec="seconds").replace("+00:00", "Z")
    for one in look.topics:
        counts = " ".join(f"{state.name.lower()}={number}" for state, number in one.counts.items())
        oldest = "" if one.oldest is None else f" oldest={one.oldest.total_seconds():.1f}s"
        paused = " paused" if one.activation is False else ""
        rates = f"in/s={one.pushed:.1f} out/s={one.decided:.1f}"
        yield f"{moment} topic={plain(one.topic)} {counts} {rates}{oldest}{paused}"
    for owner in _mattering(look):
        beat = "never" if owner.silent is None else f"{owner.silent.total_seconds():.1f}s"
        dead = "" if owner.alive else " dead"
        yield f"{moment} owner={plain(owner.owner)} heartbeat={beat} active={owner.active}{dead}"


def _mattering(look: Sample) -> list[OwnerSample]:
    """Return the owners that are alive or hold tasks, the dead ones first."""
    return sorted((one for one in look.owners if one.alive or one.active), key=lambda one: (one.alive, one.owner))


def _number(number: int, *, wide: bool) -> str:
    """Return a number that is whole where there is room, and else has at most six characters."""
    if wide or number < _THOUSAND * 100:
        return f"{number:,}"
    return f"{number / _THOUSAND:.0f}k" if number < _THOUSAND**2 else f"{number / _THOUSAND**2:.1f}M"


def _rate(number: float) -> str:
    return f"{number:,.1f}" if number < _THOUSAND else f"{number:,.0f}"


def _depth(one: TopicSample) -> int:
    return one.counts[TaskState.READY] + one.counts[TaskState.ACTIVE]


def _more(number: int, one: str, many: str) -> str:
    return f"and {counted(number, f'more {one}', f'more {many}')}" if number else ""
