"""How a worker is doing, for probes and people."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from .statistics import TopicStatistics

__all__ = ["WorkerHealth"]


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """A worker as of one moment. Times are this machine's."""

    owner: str
    """The owner that it beats for."""
    alive: bool
    """Whether it runs: started, not stopped, its threads alive."""
    healthy: bool
    """Whether it is alive, has beaten lately, and every processor that is to run does."""
    started: datetime | None
    """When it was started last."""
    last_beat: datetime | None
    """When a heartbeat was last committed."""
    beat_age: timedelta | None
    """How long ago that was; once it is longer than the expiry, others take its tasks."""
    errors: Mapping[str, str]
    """What fails at present: a heartbeat or other upkeep, and why. All of it is tried again for ever."""
    expired: int
    """How many tasks it expired, of whatever topic."""
    topics: Mapping[str, TopicStatistics]
    """What each processor has done so far."""
    notifier_connected: bool | None
    """Whether its notifier hears of new tasks at present; None without a notifier."""
