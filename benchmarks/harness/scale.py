"""How much is measured."""

from dataclasses import dataclass
from typing import Final

__all__ = ["FULL", "QUICK", "Scale"]


@dataclass(frozen=True)
class Scale:
    """How many tasks each workload has."""

    push: int
    """Pushed one by one."""
    bulk: int
    """Pushed in batches."""
    chunk: int
    """How many make such a batch."""
    drain: int | None
    """Drained; None for what fits the system."""
    workers: tuple[int, ...]
    """How many processes drain."""
    batches: tuple[int, ...]
    """How many tasks are taken at once."""
    latency: int
    """Pushed to an idle worker."""
    gap: float
    """How many seconds lie between them."""
    churn: int
    """Finished before a drain."""
    churn_batches: tuple[int, ...]
    """How many tasks that drain takes at once."""
    history: tuple[int, ...]
    """Finished and stored before a drain."""
    hot: int
    """How many identifiers a SINGULAR poll meets."""
    blocked: int
    """How many tasks of a blocked identifier lie before them."""
    known: int
    """How many identifiers are replaced, and how many tasks wait for junctions."""
    topics: int
    """Over how many topics tasks are spread."""
    memory: int
    """How many tasks a worker's memory is watched over; 0 for not at all."""
    limit: float
    """How many seconds a single measurement takes at most."""


FULL: Final = Scale(
    push=10_000,
    bulk=500_000,
    chunk=1000,
    drain=None,
    workers=(1, 2, 4),
    batches=(1, 10, 100, 1000),
    latency=200,
    gap=0.05,
    churn=200_000,
    churn_batches=(10, 500),
    history=(1_000_000,),
    hot=200,
    blocked=100_000,
    known=20_000,
    topics=100,
    memory=0,
    limit=30.0,
)

QUICK: Final = Scale(
    push=50,
    bulk=1000,
    chunk=500,
    drain=1000,
    workers=(1, 2),
    batches=(10,),
    latency=5,
    gap=0.01,
    churn=1000,
    churn_batches=(100,),
    history=(1000,),
    hot=20,
    blocked=200,
    known=500,
    topics=3,
    memory=1000,
    limit=10.0,
)
