"""Bars of text: how each system stands beside hand-written SQL."""

from collections.abc import Iterator
from typing import Final

from .catalogue import Database, Role
from .metrics import MAIN, metrics
from .results import Results

__all__ = ["bar", "chart"]

_WIDTH: Final = 40
_PART: Final = " ▏▎▍▌▋▊▉"


def chart(results: Results, database: Database) -> list[str]:
    """The lines of the chart."""
    known = {metric.key: metric for metric in metrics(results.scale)}
    lines: list[str] = []
    for key in MAIN:
        if bars := list(_bars(results, database, key)):
            better = "longer is better" if known[key].rising else "shorter is better"
            lines += [f"{known[key].title} ÷ raw ({better})", *bars, ""]
    return lines[:-1]


def _bars(results: Results, database: Database, metric: str) -> Iterator[str]:
    ratios = {
        system: ratio
        for system in results.systems(database)
        if (ratio := results.ratio(database, system.name, metric)) is not None
    }
    width = max((len(system.name) for system in ratios), default=0)
    for system, ratio in ratios.items():
        sign = "◆" if system.role is Role.TOPIQ else " "
        yield f"{sign} {system.name:<{width}} {ratio:7.3f} {bar(ratio / max(ratios.values()))}".rstrip()


def bar(part: float) -> str:
    """A bar that takes this part of the whole width."""
    eighths = round(part * _WIDTH * 8)
    return "█" * (eighths // 8) + _PART[eighths % 8].strip()
