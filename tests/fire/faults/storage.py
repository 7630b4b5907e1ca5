"""A disk that is full, and one that can't be written to."""

from __future__ import annotations

import resource
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.fire.faults.fault import SQLITE, wait
from tests.fire.faults.inside import Order, tell

if TYPE_CHECKING:
    from random import Random

    from tests.fire.scene import Scene

_SMALL = 64 * 1024


class DiskFull:
    """
    Nobody can write more, for a while.

    Either the operating system lets no file of a member grow, so that SQLite's writes fail midway
    (``SQLITE_IOERR_WRITE``), or SQLite finds no room for another page (``SQLITE_FULL``).
    """

    name = "disk-full"
    databases = SQLITE

    def strike(self, scene: Scene, chance: Random) -> str:
        """Let files not grow for a while."""
        length = chance.uniform(0.5, scene.silence)
        if chance.random() < 0.5:
            return f"{_ordered(scene, Order.FULL, length)} could allocate no page for {length:.1f} s"
        before = {member.pid: _limit(member.pid, _SMALL) for member in scene.members}
        try:
            wait(length)
        finally:
            for pid, limit in before.items():
                _limit(pid, limit)
        return f"no file of {len(before)} members could grow beyond {_SMALL // 1024} KiB for {length:.1f} s"


class ReadOnly:
    """The database can be read but not written to, for a while (``SQLITE_READONLY``)."""

    name = "read-only"
    databases = SQLITE

    def strike(self, scene: Scene, chance: Random) -> str:
        """Let everybody read only for a while."""
        length = chance.uniform(0.5, scene.silence)
        return f"{_ordered(scene, Order.READ_ONLY, length)} could only read for {length:.1f} s"


def _ordered(scene: Scene, order: Order, length: float) -> str:
    members = [member for member in scene.members if tell(member.pid, order)]
    try:
        wait(length)
    finally:
        for member in members:
            tell(member.pid, Order.WRITABLE)
    return f"{len(members)} members"


def _limit(process: int, size: int) -> int:
    """Set how large files may become that a process writes; give what it was before."""
    before = resource.RLIM_INFINITY
    with suppress(ProcessLookupError):
        before, most = resource.prlimit(process, resource.RLIMIT_FSIZE)
        resource.prlimit(process, resource.RLIMIT_FSIZE, (size, most))
    return before
