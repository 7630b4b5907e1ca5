"""What the commands take: the options that they share, and the forms of their values."""

from __future__ import annotations

from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import click
from click.core import ParameterSource

from task_api import INCEPTION, MAX_SEQUENCE, TaskState

from .database import Database
from .moments import parse_due, parse_duration, parse_moment
from .render import Output

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import Enum

__all__ = [
    "DUE",
    "DURATION",
    "MOMENT",
    "POSITION",
    "SEQUENCE",
    "STATE",
    "TEXT",
    "EnumType",
    "bounds",
    "connected",
    "json_option",
    "or_before",
    "topic_argument",
    "url_option",
    "yes_option",
]

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic in its newest versions alone

_LONGEST = timedelta(days=36525)
Command: TypeAlias = "Callable[..., Any]"
EnumT = TypeVar("EnumT", bound="Enum")


def or_before(ctx: click.Context, parameter: click.Parameter, value: object) -> object:
    """Take what stands after the command, then what stands before it, then the rest."""
    if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE:
        return value
    before = ctx.find_root().params.get(str(parameter.name))
    return value if before is None or before is False else before


url_option = click.option(
    "--url",
    callback=or_before,
    envvar="TOPIQ_URL",
    show_envvar=True,
    metavar="URL",
    help="The database, as SQLAlchemy writes it: sqlite:///FILE or postgresql://USER@HOST/NAME.",
)
json_option = click.option("--json", "as_json", is_flag=True, callback=or_before, help="Print JSON, for scripts.")
topic_argument = click.argument("topic")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do it without being asked.")


def connected(function: Command) -> Command:
    """Give a command ``--url`` and ``--json``, and call it with the database and the output that they mean."""

    @url_option
    @json_option
    @wraps(function)
    def call(*args: Any, url: str | None, as_json: bool, **options: Any) -> None:
        with Database.opened(url) as database:
            function(*args, database=database, output=Output(as_json=as_json), **options)

    return call


def bounds(function: Command) -> Command:
    """Give a command the inclusive sequence bounds ``--first`` and ``--last``."""
    first = click.option("--first", type=SEQUENCE, help="Only tasks from this sequence on.")
    last = click.option("--last", type=SEQUENCE, help="Only tasks up to this sequence.")
    return first(last(function))


class EnumType(_ParamType, Generic[EnumT]):
    """A member of an enum, by its name in any case."""

    def __init__(self, kind: type[EnumT], *, only: frozenset[EnumT] | None = None) -> None:
        self.name = kind.__name__
        self._members = {member.name: member for member in kind if only is None or member in only}

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """Show the names in the usage."""
        return f"[{'|'.join(self._members)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Find the member."""
        if value in self._members.values():
            return value
        if (member := self._members.get(str(value).upper())) is None:
            self.fail(f"{value!r} is none of {', '.join(self._members)}", param, ctx)
        return member

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:  # noqa: ANN401, ARG002
        """Offer the names that fit."""
        names = [name for name in self._members if name.startswith(incomplete.upper())]
        return [click.shell_completion.CompletionItem(name) for name in names]


class ParsedType(_ParamType):
    """What a function reads from the text."""

    def __init__(self, name: str, read: Callable[[str], object]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Read it, or say how it is written."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _duration(text: str) -> timedelta:
    """Read a duration that can be waited for."""
    found = parse_duration(text)
    if found > _LONGEST:
        message = f"{text!r} is too long a time; a hundred years are the most"
        raise ValueError(message)
    return found


def _text(text: str) -> str:
    """Read a text of any length, as a shell passes it on."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"it must be valid Unicode, and has other bytes: {text!r}"
        raise ValueError(message) from error
    return text


def _position(text: str) -> object:
    """Read a sequence or a moment."""
    return _sequence(text) if text.strip().isdecimal() else parse_moment(text)


def _sequence(text: str) -> int:
    if not text.strip().isdecimal() or not INCEPTION <= int(text) <= MAX_SEQUENCE:
        message = f"{text!r} is no sequence, which is a whole number as topiq list shows it"
        raise ValueError(message)
    return int(text)


DURATION = ParsedType("duration", _duration)
MOMENT = ParsedType("time", parse_moment)
DUE = ParsedType("due", parse_due)
POSITION = ParsedType("sequence|time", _position)
SEQUENCE = ParsedType("sequence", _sequence)
STATE = EnumType(TaskState)
TEXT = ParsedType("text", _text)
