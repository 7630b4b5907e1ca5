"""``topiq demo``: the main job in one go."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from task_console.database import answering
from task_console.demo.places import place
from task_console.demo.report import Bars, as_value, summary
from task_console.demo.run import run
from task_console.options import TEXT, json_option, or_before
from task_console.render import Output

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["demo"]

_TERMINATED = 128 + signal.SIGTERM


@click.command()
@click.option(
    "--tasks",
    type=click.IntRange(min=1, max=10_000_000),
    default=1000,
    show_default=True,
    help="How many orders to push; nearly three tasks come of each.",
)
@click.option(
    "--url", callback=or_before, metavar="URL", help="Run in this PostgreSQL database, in a schema of its own."
)
@click.option(
    "--keep",
    type=TEXT,
    metavar="NAME",
    help="Leave the tasks behind to be looked at: in this new SQLite file or, with --url, in this new schema.",
)
@json_option
def demo(tasks: int, url: str | None, keep: str | None, *, as_json: bool) -> None:
    """
    Show a whole life of a queue, in a database of its own.

    Producers push orders, and a worker takes each through a pipeline of steps, writes an invoice and sends a mail.
    Some orders are sold out, some invoices fail at first and are retried, some for good. In the end there is a
    table of what became of all, and of how fast.

    TOPIQ_URL is not used, and everything is removed at the end, unless --keep.

    JSON: {database, tasks, seconds, effects, topics: {topic: {states, retries, median, slow}}}.
    """
    output = Output(as_json=as_json)
    with _terminable(), answering(None), place(url, keep) as where:
        with Bars(output.console, silent=as_json) as bars:
            outcome = run(where.engine, tasks, bars)
        output.answer(as_value(outcome), *summary(outcome, output.width))
        if not as_json:
            _say_what_next(where.url, keep)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, so that it cleans up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_signal: int, _frame: object) -> None:
        raise SystemExit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say_what_next(url: str | None, keep: str | None) -> None:
    # Plain echo, not the console: a line to be copied must never be wrapped.
    click.echo("\nWhat to try next:")
    if url is None:
        click.echo("  topiq demo --keep demo.db              keep the tasks, to look into them")
        click.echo("  topiq demo --tasks 20000               see how the rate holds")
        click.echo("  topiq demo --url postgresql://...      the same on PostgreSQL")
        click.echo("  topiq --help                           what else there is")
        return
    click.echo(f"  export TOPIQ_URL='{url}'")
    click.echo("  topiq count                            what became of the tasks")
    click.echo("  topiq list invoices --state FAILED     those that failed, and why")
    click.echo("  topiq revive invoices --state FAILED   give them another chance")
    click.echo("  topiq explain invoices                 why nothing works on them now")
    if "***" in url:
        click.echo("  (write your password for ***)")
    what = f"the file {keep}" if url.startswith("sqlite") else f"DROP SCHEMA {keep} CASCADE"
    click.echo(f"  {'Delete' if url.startswith('sqlite') else 'Run'} {what} when you are done.")
