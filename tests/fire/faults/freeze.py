"""A process that does nothing for so long that others take its tasks, and then goes on as if nothing had been."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tests.fire.faults.fault import BOTH, names, some, wait

if TYPE_CHECKING:
    from random import Random

    from tests.fire.scene import Scene


class Freeze:
    """SIGSTOP to some workers and producers until lease and expiry are past, then SIGCONT."""

    name = "freeze"
    databases = BOTH

    def strike(self, scene: Scene, chance: Random) -> str:
        """Stop and continue."""
        victims = some(scene, chance)
        for member in victims:
            member.send(signal.SIGSTOP)
        try:
            wait(scene.silence)
        finally:
            for member in victims:
                member.send(signal.SIGCONT)
        return f"froze {names(victims)} for {scene.silence:.1f} s"
