"""``topiq explain``: why nothing is running."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.text import Text

from task_console.diagnosis import LATELY, diagnose
from task_console.moments import ago
from task_console.options import DURATION, connected, topic_argument
from task_console.render import plain

if TYPE_CHECKING:
    from datetime import timedelta

    from task_console.database import Database
    from task_console.render import Output

__all__ = ["explain"]


@click.command()
@topic_argument
@click.option(
    "--timeout",
    type=DURATION,
    default="1m",
    show_default=True,
    help="Owners silent, and transactions open, for so long are told.",
)
@connected
def explain(topic: str, timeout: timedelta, database: Database, output: Output) -> None:
    """
    Say why nothing of a topic is running.

    It may be paused, have nothing READY, wait to be due, be blocked by siblings of the same identifiers, be held by a
    dead owner, or have no worker; on PostgreSQL a transaction may keep old row versions and slow everything down.

    JSON: {topic, counts, decided, findings: [{kind, blocking, message, advice}]}.
    """
    with database.read() as tx:
        database.require_topics(tx, topic)
        found = diagnose(tx, database, topic, timeout)
    counts = ", ".join(f"{number} {state.name}" for state, number in found.counts.items() if number)
    parts = [f"{topic}: {counts or 'nothing open'}; {found.decided} decided in the last {ago(LATELY)}"]
    lines = []
    for finding in found.findings:
        mark = ("!", "bold red") if finding.blocking else ("-", "dim")
        lines.append(Text.assemble(mark, " ", plain(finding.message)))
        if finding.advice:
            lines.append(Text.assemble("    ", plain(finding.advice), style="cyan"))
    output.answer(asdict(found), *parts, *lines)
