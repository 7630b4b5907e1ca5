"""How a command ends: exit codes, and one line for each mistake."""

from __future__ import annotations

from difflib import get_close_matches
from enum import IntEnum
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["EXIT_CODES", "Exit", "Failure", "no_url", "other_schema", "unknown_task", "unknown_topic"]


class Exit(IntEnum):
    """The exit codes of every command."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    SCHEMA = 4
    UNKNOWN = 5
    UNWRITTEN = 6


EXIT_CODES = {
    Exit.OK: "done",
    Exit.FAILED: "refused or failed; nothing was changed unless the message says so",
    Exit.USAGE: "wrong arguments or lines, no URL, or a URL that names no database",
    Exit.UNREACHABLE: "the database could not be reached, or went away",
    Exit.SCHEMA: "no topiq schema, or one of another version",
    Exit.UNKNOWN: "no such topic or task",
    Exit.UNWRITTEN: "the answer could not be written; what it would have told is done",
}
"""What each exit code means."""


class Failure(click.ClickException):
    """An end of a command that is no bug: one line and an exit code."""

    def __init__(self, message: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(message)
        self.exit_code = int(code)  # type: ignore[misc]


def no_url() -> Failure:
    """Answer a command that was told no database."""
    return Failure(
        "no database: pass --url or set TOPIQ_URL, for example sqlite:///topiq.db or postgresql://user@host/name",
        Exit.USAGE,
    )


def other_schema(present: int | None, spoken: int) -> Failure:
    """Answer a schema that is missing or of another version."""
    if present is None:
        message = "there is no topiq schema in this database; install it with `topiq schema install`"
    elif present < spoken:
        message = f"the schema has version {present}, this topiq needs {spoken}; run `topiq schema upgrade`"
    else:
        message = (
            f"the schema has version {present}, newer than {spoken}, which this topiq speaks;"
            " use the topiq that upgraded it, or a newer one"
        )
    return Failure(message, Exit.SCHEMA)


def unknown_topic(topic: str, known: Iterable[str] = ()) -> Failure:
    """Answer a topic that is not initialized, with those that may be meant."""
    names = sorted(known)
    if close := get_close_matches(topic, names, n=3, cutoff=0.6):
        hint = f"did you mean {' or '.join(map(repr, close))}?"
    elif names:
        hint = "`topiq topics` lists those that exist"
    else:
        hint = f"make it with `topiq init {topic}`"
    return Failure(f"there is no topic {topic!r}; {hint}", Exit.UNKNOWN)


def unknown_task(topic: str, sequence: int, home: str | None) -> Failure:
    """Answer a sequence that is not in the topic, with the topic that it is in."""
    hint = "it may have been purged" if home is None else f"it is in topic {home!r}"
    return Failure(f"there is no task {sequence} in topic {topic!r}; {hint}", Exit.UNKNOWN)
