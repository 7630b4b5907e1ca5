"""What the commands print: tables and lines for people, JSON for scripts."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .errors import Failure
from .streams import discard, spells_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType

__all__ = ["FLEXIBLE", "RIGHT", "Header", "Output", "as_json", "console", "plain", "table"]

Header: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""The columns of a table by name, with what else is to be said about them, as rich takes it."""
RIGHT: Final[Mapping[str, Any]] = {"justify": "right"}
"""A column of numbers."""
FLEXIBLE: Final[Mapping[str, Any]] = {"flexible": True}
"""A column of names or texts, which is cut where the terminal is too narrow."""

_ENDLESS = 100_000
_LINES = "\n\t"
_FRAME = 2
"""What a column takes besides its text, in a terminal."""
_SHORTEST = 8
"""What a flexible column keeps in any case."""


def console() -> Console:
    """Return the console on the standard output; without a terminal nothing is wrapped or cut."""
    found = Console(highlight=False, soft_wrap=False)
    return found if found.is_terminal else Console(highlight=False, width=_ENDLESS, color_system=None)


def as_json(value: object, *, indent: int | None = 2) -> str:
    """Return the value as JSON that the output can spell: enums by name, times in ISO 8601 and UTC."""
    return json.dumps(_jsonable(value), indent=indent, ensure_ascii=not spells_all())


def plain(text: object, *, lines: bool = False) -> Text:
    """Return text that a terminal shows and never obeys; with ``lines`` it may have several."""
    kept = _LINES if lines else ""
    return Text("".join(one if one.isprintable() or one in kept else ascii(one)[1:-1] for one in str(text)))


def table(header: Header, rows: Iterable[Sequence[object]], *, width: int | None) -> Table:
    """Return a table with these columns that fits a terminal of this width, or a plain one where there is none."""
    cells = [[cell if isinstance(cell, Text) else plain(cell) for cell in row] for row in rows]
    made = Table(box=None, pad_edge=False, header_style="")
    if width is not None:
        made = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), header_style="bold")
    for (name, options), room in zip(header.items(), _rooms(header, cells, width), strict=True):
        shape = {key: value for key, value in options.items() if key != "flexible"}
        made.add_column(name, no_wrap=True, overflow="ellipsis", min_width=room, max_width=room, **shape)
    for row in cells:
        made.add_row(*row)
    return made


def _rooms(header: Header, cells: Sequence[Sequence[Text]], width: int | None) -> list[int | None]:
    """Return how wide each column is: as it needs, but flexible ones share what the others leave."""
    if width is None:
        return [None] * len(header)
    needs = [max([len(name), *(row[index].cell_len for row in cells)]) for index, name in enumerate(header)]
    flexible = [index for index, options in enumerate(header.values()) if options.get("flexible")]
    left = width - _FRAME * len(needs) - 1 - sum(need for index, need in enumerate(needs) if index not in flexible)
    # The shortest first, so that what it does not need is left to the others.
    for number, index in enumerate(sorted(flexible, key=needs.__getitem__)):
        needs[index] = min(needs[index], max(left // (len(flexible) - number), _SHORTEST))
        left -= needs[index]
    return list(needs)


class Output:
    """Where a command's answer goes."""

    def __init__(self, *, as_json: bool) -> None:
        self.json = as_json
        """Whether a script reads it."""
        self.console = console()
        """Where people read it."""

    @property
    def width(self) -> int | None:
        """How wide the terminal is, if there is one."""
        return self.console.width if self.console.is_terminal else None

    def answer(self, value: object, *parts: RenderableType) -> None:
        """Print the value as JSON, or the parts that say the same to people."""
        if self.json:
            click.echo(as_json(value))
            return
        for part in parts:
            self._print(part)

    def rows(self, value: object, header: Header, rows: Sequence[Sequence[object]], *, empty: str) -> None:
        """Print the value as JSON, or a table, or what is said when it would be empty."""
        self.answer(value, table(header, rows, width=self.width) if rows else empty)

    def note(self, text: str) -> None:
        """Say something beside the answer, on the standard error; if that takes nothing, it is not said."""
        if not self.json:
            try:
                click.echo(text, err=True)
            except OSError:
                discard(sys.stderr)

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask, on the standard error, unless the answer is known; end the command if it is no."""
        if yes:
            return
        try:
            # Nobody answers where there is no standard input.
            agreed = sys.stdin is not None and click.confirm(question, err=True)
        except click.Abort:
            click.echo(err=True)
            agreed = False
        if not agreed:
            message = "nothing was changed; answer y, or pass --yes to do it without being asked"
            raise Failure(message)

    def _print(self, part: RenderableType) -> None:
        if isinstance(part, str):
            # Plain echo, not the console: a line to be copied must never be wrapped.
            click.echo(part)
        elif self.console.is_terminal:
            self.console.print(part)
        else:
            with self.console.capture() as capture:
                self.console.print(part)
            for line in capture.get().splitlines():
                click.echo(line.rstrip())


def _jsonable(value: object) -> Any:  # noqa: ANN401 - JSON has many types
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, dict):
        return {_jsonable(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return value
