"""What was measured, as it is stored and as it is asked for."""

import json
from bisect import bisect_left
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from .catalogue import SYSTEMS, Database, Role, System
from .scale import Scale

__all__ = ["Failure", "Results", "Sample", "formatted"]


@dataclass(frozen=True)
class Sample:
    """One figure of one repeat."""

    database: str
    system: str
    metric: str
    repeat: int
    value: float
    load: float
    """The machine's load before."""
    commit: float
    """How many milliseconds the disk takes for a page that must be there."""
    details: dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """A workload that a system did not get through."""

    database: str
    system: str
    workload: str
    repeat: int
    error: str

    @property
    def summary(self) -> str:
        """The last line of the error, which names it."""
        return self.error.strip().splitlines()[-1]


@dataclass
class Results:
    """Everything about a run."""

    scale: Scale
    about: dict[str, Any]
    """The machine, versions and settings."""
    samples: list[Sample] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def systems(self, database: Database) -> list[System]:
        """Those that took part, in the catalogue's order."""
        names = {sample.system for sample in self.samples if sample.database == database.value}
        return [system for system in SYSTEMS if system.database is database and system.name in names]

    def values(self, database: Database, system: str, metric: str) -> list[float]:
        """All figures of the repeats."""
        wanted = database.value, system, metric
        return [s.value for s in self.samples if (s.database, s.system, s.metric) == wanted]

    def median(self, database: Database, system: str, metric: str) -> float | None:
        """The figure that counts."""
        values = self.values(database, system, metric)
        return median(values) if values else None

    def ratio(self, database: Database, system: str, metric: str, *, other: str | None = None) -> float | None:
        """
        A figure divided by another of the same system, or by the floor's.

        Each is divided by what was measured right before and after it, because a machine's speed changes in the course
        of a run; the median of that counts.
        """
        base = (system, other) if other is not None else ("raw", metric)
        if base == (system, metric):
            return 1.0 if self.values(database, system, metric) else None
        samples = [
            s for s in self.samples if s.database == database.value and (s.system, s.metric) in (base, (system, metric))
        ]
        places = [place for place, sample in enumerate(samples) if (sample.system, sample.metric) == base]
        found = []
        for place, sample in enumerate(samples):
            if (sample.system, sample.metric) == (system, metric) and places:
                right = bisect_left(places, place)
                beside = fmean(samples[near].value for near in places[max(right - 1, 0) : right + 1])
                # A clock may be too coarse for what is short.
                if beside:
                    found.append(sample.value / beside)
        return median(found) if found else None

    def standing(self, database: Database, system: str, metric: str) -> float | None:
        """What systems are compared by: the ratio to the floor, or the figure where there is none."""
        ratio = self.ratio(database, system, metric)
        return self.median(database, system, metric) if ratio is None else ratio

    def best_peer(self, database: Database, metric: str, *, rising: bool) -> tuple[str, float] | None:
        """The peer with the best standing."""
        peers = [
            (system.name, value)
            for system in self.systems(database)
            if system.role is Role.PEER and (value := self.standing(database, system.name, metric)) is not None
        ]
        choose = max if rising else min
        return choose(peers, key=lambda peer: peer[1]) if peers else None

    def spread(self, database: Database, system: str, metric: str) -> float | None:
        """How far the repeats lie apart, as a part of their median."""
        values = self.values(database, system, metric)
        middle = median(values) if values else 0
        return (max(values) - min(values)) / middle if middle else None

    def join(self, other: "Results") -> None:
        """Take over what another run on the same machine has measured."""
        self.samples += other.samples
        self.failures += other.failures
        history = tuple(sorted({*self.scale.history, *other.scale.history}))
        self.scale = replace(self.scale, history=history, memory=max(self.scale.memory, other.scale.memory))

    def save(self, path: Path) -> None:
        """Write everything as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> "Results":
        """Read what was saved."""
        stored = json.loads(path.read_text(encoding="utf-8"))
        scale: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in stored["scale"].items()
        }
        return Results(
            Scale(**scale),
            stored["about"],
            [Sample(**sample) for sample in stored["samples"]],
            [Failure(**failure) for failure in stored["failures"]],
        )


def formatted(value: float | None) -> str:
    """A figure with three digits that matter."""
    if value is None:
        return ""
    if value >= 100:  # noqa: PLR2004 - three digits
        return f"{value:,.0f}"
    return f"{value:.3g}"
