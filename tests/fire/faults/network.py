"""Connections that are cut, slow, or silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.faults.fault import POSTGRESQL, wait

if TYPE_CHECKING:
    from random import Random

    from tests.fire.scene import Scene


class Cut:
    """Connections are reset, all or some, in several rounds."""

    name = "cut"
    databases = POSTGRESQL

    def strike(self, scene: Scene, chance: Random) -> str:
        """Cut; clients connect again by themselves."""
        assert scene.proxy is not None
        rounds = chance.randint(1, 4)
        number = 0
        for _ in range(rounds):
            number += scene.proxy.cut(chance.choice((None, chance)))
            wait(chance.uniform(0, 0.5))
        return f"cut {number} connections in {rounds} rounds"


class Delay:
    """Whatever is sent takes its time."""

    name = "delay"
    databases = POSTGRESQL

    def strike(self, scene: Scene, chance: Random) -> str:
        """Delay for a while."""
        assert scene.proxy is not None
        delay = chance.uniform(0.02, 0.5)
        length = chance.uniform(1, scene.silence)
        scene.proxy.delay(delay)
        try:
            wait(length)
        finally:
            scene.proxy.heal()
        return f"delayed everything by {delay * 1000:.0f} ms for {length:.1f} s"


class HalfOpen:
    """Whatever is sent is lost and nobody is told, until lease and expiry are past; then connections are reset."""

    name = "half-open"
    databases = POSTGRESQL

    def strike(self, scene: Scene, chance: Random) -> str:
        """Be silent on present connections, or on new ones too."""
        assert scene.proxy is not None
        new = chance.random() < 0.5
        number = scene.proxy.half_open(new=new)
        try:
            wait(scene.silence)
        finally:
            scene.proxy.heal()
        return f"lost all bytes of {number} connections{' and of new ones' if new else ''} for {scene.silence:.1f} s"
