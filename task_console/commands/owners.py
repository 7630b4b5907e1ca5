"""``topiq owners`` and ``expire``: who is there, and what the others left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from task_console.moments import ago, shown
from task_console.options import DURATION, connected
from task_console.render import FLEXIBLE, RIGHT
from task_console.sample import owners_of
from task_console.words import counted

if TYPE_CHECKING:
    from datetime import timedelta

    from task_console.database import Database
    from task_console.render import Output
    from task_console.sample import OwnerSample

__all__ = ["expire", "owners"]

_timeout_option = click.option(
    "--timeout",
    type=DURATION,
    default="1m",
    show_default=True,
    help="An owner that has not beaten for so long counts as dead; not less than your workers' own setting.",
)


@click.command()
@_timeout_option
@click.option("--forget", type=DURATION, help="First forget owners silent for so long that no task names.")
@connected
def owners(timeout: timedelta, forget: timedelta | None, database: Database, output: Output) -> None:
    """
    List those who claim tasks, with their heartbeats.

    JSON: [{owner, alive, silent, registered, active, longest}], where silent is in seconds, active the number of
    tasks that it holds, and longest the seconds since its oldest claim.
    """
    if forget is not None:
        with database.write() as tx:
            forgotten = database.repository.purge_owners(tx, forget)
        output.note(counted(forgotten, "owner is forgotten", "owners are forgotten"))
    with database.read() as tx:
        found = owners_of(tx, timeout)
    output.rows(
        [one.as_value() for one in found],
        {"owner": FLEXIBLE, "alive": {}, "silent for": RIGHT, "registered": {}, "holds": RIGHT},
        [_row(one) for one in found],
        empty="There are no owners: no worker has registered yet.",
    )


@click.command()
@_timeout_option
@connected
def expire(timeout: timedelta, database: Database, output: Output) -> None:
    """
    Make ACTIVE tasks EXPIRED whose lease has ended, or whose owner is dead, in all topics.

    Workers do that by themselves; this is for when none is running. EXPIRED tasks come back with
    `topiq revive TOPIC --state EXPIRED`.

    JSON: {expired}.
    """
    with database.write() as tx:
        number = database.repository.expire(tx, timeout)
    output.answer({"expired": number}, counted(number, "task is EXPIRED", "tasks are EXPIRED"))


def _row(one: OwnerSample) -> tuple[object, ...]:
    return (
        one.owner,
        Text("yes", "green") if one.alive else Text("NO", "red"),
        "not registered" if one.silent is None else ago(one.silent),
        shown(one.registered),
        one.active,
    )
