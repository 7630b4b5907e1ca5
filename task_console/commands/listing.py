"""``topiq list``, ``show``, ``count`` and ``results``."""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from task_api import (
    INCEPTION,
    MAX_SEQUENCE,
    Counting,
    Direction,
    Listing,
    Snapshot,
    Summary,
    TaskInfo,
    TaskResult,
    TaskState,
)
from task_console.moments import shown
from task_console.options import MOMENT, POSITION, SEQUENCE, STATE, bounds, connected, topic_argument
from task_console.render import FLEXIBLE, RIGHT, plain
from task_processor.detached.folder import detached_log

if TYPE_CHECKING:
    from task_api import TaskRef
    from task_console.database import Database
    from task_console.render import Output

__all__ = ["count", "list_tasks", "results", "show"]

_STYLES = {
    TaskState.ACTIVE: "cyan",
    TaskState.READY: "",
    TaskState.EXPIRED: "yellow",
    TaskState.FAILED: "red",
    TaskState.SUSPENDED: "yellow",
    TaskState.FILTERED: "dim",
    TaskState.SUCCEEDED: "green",
    TaskState.RECREATED: "dim",
    TaskState.REDUNDANT: "dim",
}

_LINKS = 10
"""How many tasks that wait, or are waited for, are named to people."""


@click.command("list")
@topic_argument
@click.option("--state", type=STATE, help="Only tasks in this state.")
@click.option("--identifier", help="Only tasks with this identifier.")
@click.option("--reference", help="Only tasks with this reference.")
@click.option("--start", type=POSITION, help="Begin after this sequence, or at this time.")
@click.option("--size", type=click.IntRange(min=1, max=1_000_000), default=20, show_default=True, help="How many.")
@click.option("--backward", "-b", is_flag=True, help="The newest first.")
@connected
def list_tasks(
    topic: str,
    *,
    state: TaskState | None,
    identifier: str | None,
    reference: str | None,
    start: int | datetime | date | None,
    size: int,
    backward: bool,
    database: Database,
    output: Output,
) -> None:
    """
    List the tasks of a topic in their order.

    JSON: [task], as show prints one.
    """
    with database.read() as tx:
        database.require_topics(tx, topic)
        found = database.repository.page(
            tx,
            topic,
            start=start if isinstance(start, int) or start is None else _start_of(start, backward=backward),
            size=size,
            direction=Direction.BACKWARD if backward else Direction.FORWARD,
            listing=Listing(state, reference, identifier),
        )
    output.rows(
        [_info(task) for task in found],
        {
            "sequence": RIGHT,
            "identifier": FLEXIBLE,
            "state": {},
            "try": RIGHT,
            "created": {},
            "output": FLEXIBLE,
        },
        [
            (
                task.sequence,
                task.identifier,
                Text(task.state.name, _STYLES[task.state]),
                task.attempt,
                shown(task.created),
                _last_line(task.output),
            )
            for task in found
        ],
        empty=f"{topic} has no such tasks",
    )
    if len(found) == size:
        output.note(f"There may be more; go on with --start {found[-1].sequence}")


@click.command()
@topic_argument
@click.argument("sequence", type=SEQUENCE)
@connected
def show(topic: str, sequence: int, database: Database, output: Output) -> None:
    """
    Show everything about one task.

    JSON: an object with its fields; times in UTC. With log, if a detached process worked on it; with after and
    dependents, {topic, sequence} each, if it waits or waited for others, or they for it.
    """
    with database.read() as tx:
        database.require_topics(tx, topic)
        [task] = database.tasks(tx, topic, [sequence])
        linked = {
            "after": database.repository.predecessors(tx, task),
            "dependents": database.repository.dependents(tx, task),
        }
    told = _info(task) | _log(task)
    links = {name: refs for name, refs in linked.items() if refs}
    info = told | {name: [asdict(ref) for ref in refs] for name, refs in links.items()}
    lines = [
        Text.assemble(f"{name:<12}", plain(shown(value) if isinstance(value, datetime) else _text(value), lines=True))
        for name, value in (told | {name: _named(refs) for name, refs in links.items()}).items()
        if value is not None and (name, value) != ("failed", 0) and name not in ("input", "output")
    ]
    texts = [
        Text.assemble(f"\n{name}\n", plain(info[name], lines=True))
        for name in ("input", "output")
        if info[name] is not None
    ]
    output.answer(info, *lines, *texts)


def _named(refs: list[TaskRef]) -> str:
    more = f" and {len(refs) - _LINKS} more" if len(refs) > _LINKS else ""
    return ", ".join(map(str, refs[:_LINKS])) + more


@click.command()
@click.argument("topics", nargs=-1, metavar="[TOPIC]...")
@click.option("--state", type=STATE, help="Only tasks in this state.")
@click.option("--identifier", help="Only tasks with this identifier.")
@click.option("--reference", help="Only tasks with this reference.")
@click.option("--recent", is_flag=True, help="Only the newest task of each identifier.")
@bounds
@connected
def count(
    topics: tuple[str, ...],
    *,
    state: TaskState | None,
    identifier: str | None,
    reference: str | None,
    first: int | None,
    last: int | None,
    recent: bool,
    database: Database,
    output: Output,
) -> None:
    """
    Count tasks by topic and state.

    JSON: {topic: {state: {count, bound}}}, where bound is the highest sequence among them.
    """
    snapshot = Snapshot.RECENT if recent else Snapshot.TOTAL
    found: dict[str, dict[TaskState, Summary]] = {}
    with database.read() as tx:
        database.require_topics(tx, *topics)
        for topic in topics or (None,):
            found |= database.repository.count(
                tx,
                snapshot,
                Counting(topic, state, reference, identifier),
                first=INCEPTION if first is None else first,
                last=MAX_SEQUENCE if last is None else last,
            )
    present = [each for each in TaskState if any(each in states for states in found.values())]
    rows = [
        (topic, *(states[each].count if each in states else Text("0", "dim") for each in present))
        for topic, states in found.items()
    ]
    output.rows(
        {
            topic: {each.name: {"count": summary.count, "bound": summary.bound} for each, summary in states.items()}
            for topic, states in found.items()
        },
        {"topic": FLEXIBLE} | {each.name: RIGHT for each in present},
        rows,
        empty="There are no topics; make one with `topiq init TOPIC`.",
    )


@click.command()
@click.argument("topics", nargs=-1, metavar="[TOPIC]...")
@click.option("--since", type=MOMENT, help="Decided at this time or later: 2026-11-01, or 1h for an hour ago.")
@click.option("--until", type=MOMENT, help="Decided at this time or earlier; a date means its end.")
@connected
def results(
    topics: tuple[str, ...],
    since: datetime | date | None,
    until: datetime | date | None,
    database: Database,
    output: Output,
) -> None:
    """
    Count results by topic, decided in a time if one is given.

    JSON: {topic: {result: count}}.
    """
    with database.read() as tx:
        database.require_topics(tx, *topics)
        found = database.repository.results(
            tx,
            since=None if since is None else _start_of(since),
            until=None if until is None else _start_of(until, backward=True),
        )
    chosen = {topic: found[topic] for topic in topics or found}
    rows = [(topic, *(counts.get(result, 0) for result in TaskResult)) for topic, counts in chosen.items()]
    output.rows(
        {topic: {result.name: number for result, number in counts.items()} for topic, counts in chosen.items()},
        {"topic": FLEXIBLE} | {result.name: RIGHT for result in TaskResult},
        rows,
        empty="There are no topics; make one with `topiq init TOPIC`.",
    )


def _start_of(moment: datetime | date, *, backward: bool = False) -> datetime:
    """Turn a date into the moment at which it begins, or after which, looking back, it is over."""
    if isinstance(moment, datetime):
        return moment
    start = datetime.combine(moment, time(), UTC)
    return start + timedelta(days=1, microseconds=-1) if backward else start


def _info(task: TaskInfo) -> dict[str, Any]:
    names = [field.name for field in fields(task) if field.name != "claim"]
    return {"topic": task.topic} | {name: getattr(task, name) for name in names if name != "topic"}


def _log(task: TaskInfo) -> dict[str, Any]:
    """Where the output of a task's detached process is, if it had one."""
    log = detached_log(task.owner, task.topic, task.sequence)
    return {} if log is None else {"log": str(log)}


def _last_line(text: str | None) -> str:
    """Return the line of an output that says most: of a trace, the error."""
    lines = (text or "").strip().splitlines()
    return lines[-1] if lines else ""


def _text(value: object) -> object:
    return value.name if isinstance(value, TaskState) else value
