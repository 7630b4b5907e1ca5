"""The command ``topiq``: which commands there are, and where each is found when it is called."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from .errors import EXIT_CODES, Exit, Failure
from .streams import discard, escape_unknown, is_unwritten

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMMANDS", "main"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that is imported when it is called, so that none waits for what only another needs."""

    module: str
    """The module that holds it, below ``task_console.commands``."""
    attribute: str
    """Its name there."""
    summary: str
    """What it does, in a line."""


COMMANDS: Final[Mapping[str, Mapping[str, Entry]]] = {
    "To begin": {
        "demo": Entry("demo", "demo", "Show a whole life of a queue, in a database of its own."),
        "schema": Entry("schema", "schema", "Install, upgrade, show or remove the tables."),
        "init": Entry("topics", "init", "Make topics, so that tasks can be pushed to them."),
        "push": Entry("push", "push", "Push tasks to a topic."),
        "work": Entry("work", "work", "Run a worker of yours until it is told to stop."),
    },
    "To look": {
        "topics": Entry("topics", "topics", "List the topics and whether they are paused."),
        "count": Entry("listing", "count", "Count tasks by topic and state."),
        "list": Entry("listing", "list_tasks", "List the tasks of a topic."),
        "show": Entry("listing", "show", "Show everything about one task."),
        "results": Entry("listing", "results", "Count results by topic, in a time if you like."),
        "slots": Entry("slots", "slots", "Show how time is covered by the slots of a topic."),
        "owners": Entry("owners", "owners", "List those who claim tasks, with their heartbeats."),
        "watch": Entry("watch", "watch", "Watch depths, rates and owners live."),
        "explain": Entry("explain", "explain", "Say why nothing of a topic is running."),
    },
    "To operate": {
        "pause": Entry("topics", "pause", "Store that topics are not to be worked on."),
        "resume": Entry("topics", "resume", "Store that topics are to be worked on again."),
        "revive": Entry("reviving", "revive", "Bring tasks back: reset them, or push copies."),
        "reassign": Entry("reviving", "reassign", "Give tasks another result."),
        "release": Entry("holding", "release", "Take tasks from their holder and make them READY again."),
        "eject": Entry("holding", "eject", "Take tasks from their holder and decide them."),
        "expire": Entry("owners", "expire", "Make EXPIRED what silent owners and ended leases left."),
        "detached": Entry("detached", "detached", "List, stop and kill processes that outlive their worker."),
        "purge": Entry("purge", "purge", "Delete finished tasks."),
        "destroy": Entry("topics", "destroy", "Delete a topic with all its tasks."),
    },
}
"""The commands in the order and under the headings of the help."""

_ENTRIES: Final = {name: entry for section in COMMANDS.values() for name, entry in section.items()}


class _Commands(click.Group):
    """A group whose commands are imported when they are called; the help needs none of them."""

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401 - theirs
        escape_unknown()
        try:
            return super().main(*args, **extra)
        except OSError as error:
            if not is_unwritten(error):
                raise
            discard(sys.stdout)
            Failure(f"the answer can't be written: {error.strerror}").show()
            sys.exit(Exit.UNWRITTEN)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if (entry := _ENTRIES.get(cmd_name)) is None:
            return None
        command = getattr(import_module(f"task_console.commands.{entry.module}"), entry.attribute)
        assert isinstance(command, click.Command)  # noqa: S101 - for the type checker
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for heading, entries in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, entry.summary) for name, entry in entries.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in EXIT_CODES.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="topiq", message="topiq %(version)s")
@click.option("--url", metavar="URL", help="The database; also after the command.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; also after the command.")
def main(url: str | None, as_json: bool) -> None:  # noqa: FBT001 - commands look them up
    """
    Ordered, transactional task queues in the SQL database you already have.

    Commands take the database from --url or TOPIQ_URL; demo has its own, or takes it from --url alone, and detached
    needs none. With --json they print JSON.
    """
