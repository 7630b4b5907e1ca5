"""A wall clock that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.faults.fault import BOTH, names, some, wait
from tests.fire.faults.inside import Order, tell

if TYPE_CHECKING:
    from random import Random

    from tests.fire.scene import Scene


class Clock:
    """
    The wall clock of some members jumps by an hour, ahead or behind, and back after a while.

    It is the clock that Python code sees, not the one of the database.
    """

    name = "clock"
    databases = BOTH

    def strike(self, scene: Scene, chance: Random) -> str:
        """Set clocks wrong and right."""
        order = chance.choice((Order.AHEAD, Order.BEHIND))
        victims = [member for member in some(scene, chance) if tell(member.pid, order)]
        length = chance.uniform(1, scene.silence)
        wait(length)
        for member in victims:
            tell(member.pid, Order.ON_TIME)
        return f"clocks of {names(victims) or 'nobody'} an hour {order.name.lower()} for {length:.1f} s"
