"""What topiq wants to reach, and whether it does."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .catalogue import Database, Role
from .results import Results

__all__ = ["Verdict", "verdicts"]

_BEST_PEER: Final = 1.5
_POSTGRESQL: Final = Database.POSTGRESQL
_SQLITE: Final = Database.SQLITE


@dataclass(frozen=True)
class Verdict:
    """One goal, and what one way to use topiq has reached."""

    database: Database
    what: str
    system: str
    reached: float
    goal: float
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.reached >= self.goal if self.at_least else self.reached <= self.goal


def verdicts(results: Results) -> Iterator[Verdict]:
    """Judge every goal that was measured, for each way to use topiq."""
    for database, judge in ((_POSTGRESQL, _postgresql), (_SQLITE, _sqlite)):
        for system in results.systems(database):
            if system.role is Role.TOPIQ:
                yield from judge(results, system.name, transactional="claim" in system.options)


def _postgresql(results: Results, system: str, *, transactional: bool) -> Iterator[Verdict]:
    drain = 1.1 if transactional else 0.75
    for metric, goal in (("push", 0.9), ("bulk", 0.75), ("drain x1", drain), ("drain x4", drain)):
        yield from _floor(results, _POSTGRESQL, system, metric, goal)
        yield from _peers(results, _POSTGRESQL, system, metric, _BEST_PEER)
    yield from _latency(results, system)
    for batch in results.scale.churn_batches:
        yield from _own(results, system, f"churn by {batch} held", f"churn by {batch}", 0.9)
    for number in results.scale.history:
        yield from _own(results, system, f"history {number}", f"beside history {number}", 0.9)
    yield from _own(results, system, "singular", "beside singular", 0.3)
    yield from _own(results, system, "blocked", "singular", 0.5)
    memory = results.median(_POSTGRESQL, system, "memory")
    if memory is not None:
        yield Verdict(_POSTGRESQL, "memory at the end ÷ after a tenth", system, memory, 1.1, at_least=False)


def _sqlite(results: Results, system: str, *, transactional: bool) -> Iterator[Verdict]:  # noqa: ARG001 - all alike
    for metric, goal in (("push", 0.8), ("bulk", 0.5), ("drain x1", 0.4)):
        yield from _floor(results, _SQLITE, system, metric, goal)
        yield from _peers(results, _SQLITE, system, metric, 1.0)


def _latency(results: Results, system: str) -> Iterator[Verdict]:
    metric = "latency p50"
    ratio = results.ratio(_POSTGRESQL, system, metric)
    if ratio is not None:
        yield Verdict(_POSTGRESQL, f"{metric} ÷ raw", system, ratio, 1.3, at_least=False)
    best = results.best_peer(_POSTGRESQL, metric, rising=False)
    own = results.standing(_POSTGRESQL, system, metric)
    if best and own is not None:
        yield Verdict(_POSTGRESQL, f"{metric} ÷ best peer ({best[0]})", system, own / best[1], 1.0, at_least=False)


def _floor(results: Results, database: Database, system: str, metric: str, goal: float) -> Iterator[Verdict]:
    ratio = results.ratio(database, system, metric)
    if ratio is not None:
        yield Verdict(database, f"{metric} ÷ raw", system, ratio, goal)


def _peers(results: Results, database: Database, system: str, metric: str, goal: float) -> Iterator[Verdict]:
    best = results.best_peer(database, metric, rising=True)
    own = results.standing(database, system, metric)
    if best and own is not None:
        yield Verdict(database, f"{metric} ÷ best peer ({best[0]})", system, own / best[1], goal)


def _own(results: Results, system: str, metric: str, other: str, goal: float) -> Iterator[Verdict]:
    ratio = results.ratio(_POSTGRESQL, system, metric, other=other)
    if ratio is not None:
        yield Verdict(_POSTGRESQL, f"{metric} ÷ {other}", system, ratio, goal)
