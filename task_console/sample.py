"""A look at the queues at one moment: depths, rates and owners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from task_api import TaskState

from . import queries
from .queries import Rate

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime, timedelta

    from sqlalchemy import Connection

    from .database import Database
    from .queries import OwnerInfo

__all__ = ["OPEN", "OwnerSample", "Sample", "TopicSample", "owners_of", "take"]

OPEN = (TaskState.READY, TaskState.ACTIVE, TaskState.SUSPENDED, TaskState.EXPIRED, TaskState.FAILED)
"""The states that are watched: somebody may still have to do something."""


@dataclass(frozen=True, slots=True)
class TopicSample:
    """A topic at one moment."""

    topic: str
    activation: bool | None
    """Whether it is to be worked on, if anybody has said so."""
    counts: dict[TaskState, int]
    """How many tasks are in each of the watched states."""
    pushed: float
    """Tasks per second in the window."""
    decided: float
    """Tasks per second in the window."""
    oldest: timedelta | None
    """How long ago the oldest READY task was pushed."""


@dataclass(frozen=True, slots=True)
class OwnerSample:
    """An owner at one moment."""

    owner: str
    alive: bool
    """Whether it has beaten lately."""
    silent: timedelta | None
    """How long ago it last did; None if it is not registered."""
    registered: datetime | None
    """When it came."""
    active: int
    """How many tasks it holds."""
    longest: timedelta | None
    """How long it has held the oldest of them."""

    def as_value(self) -> dict[str, Any]:
        """Return it as it is printed for scripts; times from now in seconds."""
        return {
            "owner": self.owner,
            "alive": self.alive,
            "silent": _seconds(self.silent),
            "registered": self.registered,
            "active": self.active,
            "longest": _seconds(self.longest),
        }


@dataclass(frozen=True, slots=True)
class Sample:
    """Everything at one moment, by the database's clock."""

    moment: datetime
    topics: list[TopicSample]
    owners: list[OwnerSample]

    def as_value(self) -> dict[str, Any]:
        """Return it as it is printed for scripts; times from now in seconds."""
        return {
            "moment": self.moment,
            "topics": [
                {
                    "topic": one.topic,
                    "activation": one.activation,
                    "counts": one.counts,
                    "pushed": round(one.pushed, 3),
                    "decided": round(one.decided, 3),
                    "oldest": _seconds(one.oldest),
                }
                for one in self.topics
            ],
            "owners": [one.as_value() for one in self.owners],
        }


def take(database: Database, topics: Collection[str], window: timedelta, timeout: timedelta) -> Sample:
    """Look at these topics, or at all if there are none."""
    repository = database.repository
    with database.read() as tx:
        database.require_topics(tx, *topics)
        moment = queries.now(tx)
        names = sorted(topics or repository.topics(tx))
        chosen = topics or None
        depths = queries.depths(tx, chosen)
        rates = queries.rates(tx, moment - window, chosen)
        owners = owners_of(tx, timeout, chosen)
        activations = {name: repository.activation(tx, name) for name in names}
    counts = {name: dict.fromkeys(OPEN, 0) for name in names}
    oldest: dict[str, timedelta] = {}
    for depth in depths:
        if depth.topic in counts:
            counts[depth.topic][depth.state] = depth.count
            if depth.state is TaskState.READY and depth.created is not None:
                oldest[depth.topic] = moment - depth.created
    seconds = window.total_seconds()
    none = Rate(0, 0)
    return Sample(
        moment,
        [
            TopicSample(
                name,
                activations[name],
                counts[name],
                rates.get(name, none).pushed / seconds,
                rates.get(name, none).decided / seconds,
                oldest.get(name),
            )
            for name in names
        ],
        owners,
    )


def owners_of(tx: Connection, timeout: timedelta, topics: Collection[str] | None = None) -> list[OwnerSample]:
    """Look at the owners, and at what they hold in these topics."""
    moment = queries.now(tx)
    return [_owner(one, moment, timeout) for one in queries.owners(tx, topics)]


def _owner(one: OwnerInfo, moment: datetime, timeout: timedelta) -> OwnerSample:
    silent = None if one.heartbeat is None else moment - one.heartbeat
    longest = None if one.polled is None else moment - one.polled
    return OwnerSample(one.owner, silent is not None and silent <= timeout, silent, one.registered, one.active, longest)


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else round(span.total_seconds(), 3)
