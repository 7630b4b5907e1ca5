"""
Everything that is done to a scene, each kind in a module of its own, by name.

Members call ``inside.obey`` once, so that faults reach what can't be reached from outside.
"""

from tests.fire.faults.clock import Clock
from tests.fire.faults.fault import Fault
from tests.fire.faults.freeze import Freeze
from tests.fire.faults.kill import Kill
from tests.fire.faults.network import Cut, Delay, HalfOpen
from tests.fire.faults.promote import Promote
from tests.fire.faults.restart import Restart
from tests.fire.faults.storage import DiskFull, ReadOnly
from tests.fire.faults.terminate import Terminate
from tests.fire.faults.topic import Topic
from tests.fire.faults.upgrade import Upgrade

__all__ = ["FAULTS", "Fault"]

_ALL: tuple[Fault, ...] = (
    Kill(),
    Freeze(),
    Terminate(),
    Restart(),
    Promote(),
    Cut(),
    Delay(),
    HalfOpen(),
    DiskFull(),
    ReadOnly(),
    Clock(),
    Upgrade(),
    Topic(),
)
FAULTS: dict[str, Fault] = {fault.name: fault for fault in _ALL}
"""All faults by name."""
