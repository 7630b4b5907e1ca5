"""A primary that dies, and a standby that takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.faults.fault import POSTGRESQL

if TYPE_CHECKING:
    from random import Random

    from tests.fire.scene import Scene


class Promote:
    """SIGKILL to the primary; its synchronous standby is promoted, and clients find it where the primary was."""

    name = "promote"
    databases = POSTGRESQL

    def strike(self, scene: Scene, chance: Random) -> str:  # noqa: ARG002 - as declared
        """Fail over, and build a new standby beside the work that goes on."""
        assert scene.cluster is not None
        assert scene.proxy is not None
        if not scene.cluster.has_standby:
            scene.cluster.rebuild()
        old = scene.cluster.port
        scene.cluster.fail_over()
        scene.proxy.target = scene.cluster.port
        scene.cluster.rebuild()
        return f"killed the primary on port {old}, promoted the standby on port {scene.cluster.port}"
