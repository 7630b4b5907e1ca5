"""A process that ends without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.faults.fault import BOTH, names, some, wait

if TYPE_CHECKING:
    from random import Random

    from tests.fire.scene import Scene


class Kill:
    """SIGKILL to some workers and producers; they are started again, at once or after others took over."""

    name = "kill"
    databases = BOTH

    def strike(self, scene: Scene, chance: Random) -> str:
        """Kill, wait, start again."""
        victims = some(scene, chance)
        whom = names(victims)  # who comes back may have another name
        absence = chance.choice((0.0, chance.random(), scene.silence))
        for member in victims:
            member.kill()
        wait(absence)
        for member in victims:
            member.restart()
        return f"killed {whom}, started again after {absence:.1f} s"
