"""The fenced blocks of a page, and what the page says about how they are run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PAGES", "ROOT", "Command", "Fence", "commands", "databases", "fences"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]

_OPENING = re.compile(r"^```(?P<language>[\w-]*)(?:[ ]+title=\"(?P<title>[^\"]+)\")?$")
_REASON = re.compile(r"^<!-- not run: (?P<reason>\S.*) -->$")
_ONLY = re.compile(r"^<!-- only on: (?P<names>[a-z]+) -->$")
_DATABASES = re.compile(r"^<!-- runs on: (?P<names>[a-z, ]+) -->$", re.MULTILINE)
_KNOWN_DATABASES = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced block."""

    line: int
    """The number of its first line within the page."""
    language: str
    """What stands behind the opening fence."""
    title: str | None
    """The file that the block is to be saved as, if any."""
    body: str
    """Its lines."""
    reason: str | None
    """Why it is not run, if the page says that it is not."""
    only: str | None = None
    """The one database that it is run on, if the page says so."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a console block."""

    line: int
    """Its number within the page."""
    text: str
    """What is typed behind the prompt."""
    output: str | None
    """What the page shows below it, if anything."""


def fences(content: str) -> list[Fence]:
    """All blocks of a page in their order; a block that could be overlooked is an error."""
    found: list[Fence] = []
    opening: re.Match[str] | None = None
    reason: str | None = None
    only: str | None = None
    body: list[str] = []
    for number, line in enumerate(content.splitlines(), start=1):
        if opening is not None:
            if line == "```":
                first = number - len(body)
                language, title = opening["language"], opening["title"]
                found.append(Fence(first, language, title, "".join(f"{item}\n" for item in body), reason, only))
                opening, reason, only = None, None, None
            else:
                body.append(line)
        elif line.lstrip().startswith(("```", "~~~")):
            opening, body = _OPENING.match(line), []
            if opening is None:
                message = f'line {number}: a block opens at the margin, with ```language or ```language title="file"'
                raise ValueError(message)
        elif line.strip():
            reason = match["reason"] if (match := _REASON.match(line)) else None
            only = match["names"] if (match := _ONLY.match(line)) else None
    if opening is not None:
        message = f"a block is not closed: {opening.group()}"
        raise ValueError(message)
    return found


def commands(fence: Fence) -> list[Command]:
    """The commands of a console block, each with the output below it."""
    found: list[Command] = []
    typed: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(fence.body.splitlines(), start=fence.line):
        if line.startswith("$ "):
            typed.append((number, line.removeprefix("$ "), []))
        elif not typed:
            message = f"line {number}: a console block begins with a command behind '$ '"
            raise ValueError(message)
        elif typed[-1][1].endswith("\\"):
            start, text, output = typed[-1]
            typed[-1] = (start, text[:-1] + line.strip(), output)
        else:
            typed[-1][2].append(line)
    for number, text, output in typed:
        found.append(Command(number, text, "\n".join(output) if output else None))
    return found


def databases(content: str) -> list[str]:
    """The databases that a page is run on."""
    match = _DATABASES.search(content)
    names = [name.strip() for name in match["names"].split(",")] if match else ["sqlite"]
    if unknown := [name for name in names if name not in _KNOWN_DATABASES]:
        message = f"a page runs on {' or '.join(_KNOWN_DATABASES)}, not on {', '.join(unknown)}"
        raise ValueError(message)
    return names
