"""The commands of ``topiq``: what they take, and how a user's mistake is answered."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
from rich.console import Console

from task_api import TaskError

from .demo import run
from .report import Progress, show

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="topiq", message="topiq %(version)s")
def main() -> None:
    """Ordered, transactional task queues in the SQL database you already have."""


@main.command()
@click.option(
    "--tasks",
    type=click.IntRange(min=1, max=10_000_000),
    default=3000,
    show_default=True,
    help="How many tasks to push, over three topics.",
)
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Write the database to this new file and leave it there.",
)
def demo(tasks: int, keep: Path | None) -> None:
    """Push, poll and decide some thousand tasks in a SQLite file, and show what became of them."""
    console = Console()
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="topiq-demo-") as folder:
            _demo(console, Path(folder) / "demo.db", tasks)
    else:
        _refuse(keep)
        _demo(console, keep, tasks)
    _say_what_next(keep)


def _refuse(path: Path) -> None:
    """Complain about a path that cannot become a new database."""
    if path.exists():
        message = f"{path} already exists; name a new file"
        raise click.BadParameter(message, param_hint="--keep")
    if not path.parent.is_dir():
        message = f"the folder {path.parent} does not exist"
        raise click.BadParameter(message, param_hint="--keep")


def _demo(console: Console, path: Path, tasks: int) -> None:
    try:
        with Progress(console) as progress:
            outcome = run(f"sqlite:///{path}", tasks, progress)
    except (TaskError, OSError) as error:
        raise click.ClickException(str(error)) from error
    show(console, outcome)


def _say_what_next(keep: Path | None) -> None:
    # Plain echo, not the console: a line to be copied must never be wrapped.
    click.echo("What to try next:")
    if keep is None:
        click.echo("  topiq demo --keep demo.db      keep the database and look into it")
    else:
        click.echo(f"  The database is kept in {keep}. Every task in it is a row you can query:")
        click.echo(f'  sqlite3 {keep} "SELECT * FROM task_pretty LIMIT 5"')  # noqa: S608 - shown, not run
    click.echo("  topiq demo --tasks 100000      see how the rate holds")
    click.echo("  README.md                      the same in fifteen lines of Python")
