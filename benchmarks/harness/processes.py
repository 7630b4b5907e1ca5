"""How much processor time a server's processes have taken."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["processor_seconds"]

_PROC: Final = Path("/proc")


@dataclass(frozen=True)
class _Process:
    name: str
    parent: int
    own: int
    """Its time, in ticks."""
    ended: int
    """That of its children that have ended."""


def processor_seconds(parent: int) -> float | None:
    """
    The seconds of a process, of its living children, and of those that have ended; None where that can't be told.

    Also when a process of that number is no database server: then the server runs elsewhere.
    """
    before = _stat(_PROC / str(parent))
    if before is None or not before.name.startswith("postgres"):
        return None
    while True:
        found = [child for folder in _PROC.iterdir() if folder.name.isdigit() and (child := _stat(folder))]
        after = _stat(_PROC / str(parent))
        if after is None:
            return None
        if after.ended == before.ended:  # no child has ended meanwhile, and none was missed or counted twice
            ticks = after.own + after.ended + sum(child.own for child in found if child.parent == parent)
            return ticks / os.sysconf("SC_CLK_TCK")
        before = after


def _stat(folder: Path) -> _Process | None:
    try:
        head, _, tail = (folder / "stat").read_text(encoding="utf-8").rpartition(")")
    except OSError:
        return None
    fields = tail.split()
    user, system, ended_user, ended_system = map(int, fields[11:15])
    return _Process(head.partition("(")[2], int(fields[1]), user + system, ended_user + ended_system)
