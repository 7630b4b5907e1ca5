"""What a fault is: something that breaks a scene for a while, and mends it again."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tests.fire.scene import Member, Scene

POSTGRESQL = frozenset({"postgresql"})
SQLITE = frozenset({"sqlite"})
BOTH = POSTGRESQL | SQLITE


class Fault(Protocol):
    """One kind of trouble. All that is left to chance comes from the generator given, so that it can be replayed."""

    @property
    def name(self) -> str:
        """What it is called on the command line and in reports."""

    @property
    def databases(self) -> frozenset[str]:
        """The databases that it can happen to."""

    def strike(self, scene: Scene, chance: Random) -> str:
        """Do it, undo it, and say in one line what was done to whom. May take seconds."""


def wait(seconds: float) -> None:
    """Let a fault last."""
    threading.Event().wait(seconds)


def some(scene: Scene, chance: Random) -> Sequence[Member]:
    """One member or several, in the scene's order."""
    number = chance.randint(1, max(1, len(scene.members) // 2))
    return [scene.members[index] for index in sorted(chance.sample(range(len(scene.members)), number))]


def names(members: Sequence[Member]) -> str:
    """Who they are, for the line that a fault gives."""
    return ", ".join(member.name for member in members)
