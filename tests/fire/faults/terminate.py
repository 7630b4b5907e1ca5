"""Sessions that an administrator ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.faults.fault import POSTGRESQL, wait

if TYPE_CHECKING:
    from random import Random

    from tests.fire.scene import Scene


class Terminate:
    """``pg_terminate_backend`` for some sessions, in several rounds, so that recoveries are hit too."""

    name = "terminate"
    databases = POSTGRESQL

    def strike(self, scene: Scene, chance: Random) -> str:
        """End sessions; their owners connect again by themselves."""
        assert scene.cluster is not None
        rounds = chance.randint(1, 4)
        ended = 0
        for _ in range(rounds):
            ended += scene.cluster.terminate_backends(chance)
            wait(chance.uniform(0, 0.5))
        return f"terminated {ended} sessions in {rounds} rounds"
