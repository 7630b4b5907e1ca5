"""A server that ends without a shutdown and comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.faults.fault import POSTGRESQL

if TYPE_CHECKING:
    from random import Random

    from tests.fire.scene import Scene


class Restart:
    """Immediate restart of PostgreSQL, which then recovers from its log; now and then a fast one."""

    name = "restart"
    databases = POSTGRESQL

    def strike(self, scene: Scene, chance: Random) -> str:
        """Restart."""
        assert scene.cluster is not None
        mode = chance.choices(("immediate", "fast"), (4, 1))[0]
        scene.cluster.restart(mode)
        return f"restarted the server ({mode})"
