"""
The migrations as text: SQL that a DBA can read and run.

Each database has a folder of numbered files. A block between ``-- if option, not other`` and ``-- end`` belongs to
the schemas installed that way. A statement ends with a semicolon before an empty line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from task_api import InvalidTaskError

__all__ = ["DATABASES", "Migration", "migrations", "removal", "statements"]

DATABASES: Final = ("postgresql", "oracle", "sqlite")
_BLOCK: Final = re.compile(r"^-- if (?P<options>[a-z, ]+)\n(?P<text>.*?)^-- end\n", re.MULTILINE | re.DOTALL)
_COMMENT: Final = re.compile(r"^--.*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a version of the schema to the next."""

    version: int
    """The version that it leads to."""
    script: str
    """Its text, blocks included."""

    def render(self, options: Mapping[str, bool]) -> str:
        """Return the text for one way to install it."""
        return _chosen(self.script, options)


@lru_cache
def migrations(database: str) -> tuple[Migration, ...]:
    """Return the migrations of a database in their order."""
    if database not in DATABASES:
        message = f"there is no schema for {database!r}, only for {', '.join(DATABASES)}"
        raise InvalidTaskError(message)
    names = sorted(path.name for path in (files(__package__) / database).iterdir() if path.name[0].isdigit())
    return tuple(Migration(int(name[:4]), _read(database, name)) for name in names)


def removal(database: str) -> str:
    """Return the text that removes everything."""
    return _read(database, "uninstall.sql")


def statements(script: str) -> Iterator[str]:
    """Split a text into its statements."""
    for part in re.split(r";\n(?:\n|\Z)", script):
        if statement := _COMMENT.sub("", part).strip():
            yield statement


def _read(database: str, name: str) -> str:
    return (files(__package__) / database / name).read_text("utf-8")


def _chosen(script: str, options: Mapping[str, bool]) -> str:
    def block(match: re.Match[str]) -> str:
        wanted = (option.strip() for option in match["options"].split(","))
        keep = all(not options[name[4:]] if name.startswith("not ") else options[name] for name in wanted)
        return match["text"] if keep else ""

    return re.sub(r"\n{3,}", "\n\n", _BLOCK.sub(block, script))
