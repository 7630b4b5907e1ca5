"""The report of a run, in Markdown."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from .catalogue import Database, System
from .chart import chart
from .goals import Verdict, verdicts
from .metrics import Metric, Table, metrics
from .results import Results, formatted

__all__ = ["report"]

_MEDIANS: Final = "Medians, and in brackets those of the ratios to what raw reached right before and after."


def report(results: Results) -> str:
    """Everything that there is to tell."""
    parts = [_part("## About", _about(results.about))]
    for database in Database:
        if systems := results.systems(database):
            parts += [f"## {database.value}", *_tables(results, database, systems)]
            if bars := chart(results, database):
                parts.append(_part("### Chart", [f"    {bar}".rstrip() for bar in bars]))
            if max(sample.repeat for sample in results.samples) > 1:
                parts.append(_part("### Spread of the repeats", _spread(results, database, systems)))
    if judged := list(_judged(results)):
        parts.append(_part("## Goals", judged))
    if unaccounted := list(_unaccounted(results)):
        parts.append(_part("## Handled twice, or not at all", unaccounted))
    if results.failures:
        parts.append(_part("## Left out", _failures(results)))
    return "\n\n".join(parts) + "\n"


def _part(title: str, lines: Iterable[str]) -> str:
    return "\n".join([title, "", *lines])


def _about(about: dict[str, Any]) -> list[str]:
    return [f"- {name}: {value}" for name, value in about.items()]


def _tables(results: Results, database: Database, systems: Sequence[System]) -> Iterator[str]:
    for table in Table:
        if columns := _columns(results, database, systems, table):
            grid = _grid(systems, columns, lambda system, metric: _cell(results, database, system, metric))
            yield _part(f"### {table.value}", [_MEDIANS, "", *grid])


def _columns(results: Results, database: Database, systems: Sequence[System], table: Table) -> list[Metric]:
    return [
        metric
        for metric in metrics(results.scale)
        if metric.table is table and any(results.values(database, system.name, metric.key) for system in systems)
    ]


def _grid(systems: Sequence[System], columns: Sequence[Metric], cell: Callable[[str, Metric], str]) -> Iterator[str]:
    yield "| | " + " | ".join(f"{metric.title}, {metric.unit}" for metric in columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    for system in systems:
        cells = [cell(system.name, metric) for metric in columns]
        if any(cells):
            yield f"| {system.name} | " + " | ".join(cells) + " |"


def _cell(results: Results, database: Database, system: str, metric: Metric) -> str:
    value = results.median(database, system, metric.key)
    ratio = results.ratio(database, system, metric.key)
    return formatted(value) + ("" if ratio is None or system == "raw" else f" ({ratio:.2f})")


def _spread(results: Results, database: Database, systems: Sequence[System]) -> Iterator[str]:
    yield "The highest less the lowest figure, as a part of the median."
    yield ""
    columns = [column for table in Table for column in _columns(results, database, systems, table)]
    yield from _grid(systems, columns, lambda system, metric: _spread_cell(results, database, system, metric))


def _spread_cell(results: Results, database: Database, system: str, metric: Metric) -> str:
    spread = results.spread(database, system, metric.key)
    return "" if spread is None else f"{spread:.0%}"


def _judged(results: Results) -> Iterator[str]:
    """A line for each goal, a column for each way to use topiq."""
    lines: dict[tuple[str, str, str], dict[str, Verdict]] = {}
    for verdict in verdicts(results):
        goal = f"{'≥' if verdict.at_least else '≤'} {verdict.goal:g}"
        lines.setdefault((verdict.database.value, verdict.what, goal), {})[verdict.system] = verdict
    systems = list(dict.fromkeys(system for line in lines.values() for system in line))
    if not lines:
        return
    yield "| | | goal | " + " | ".join(systems) + " |"
    yield "|---|---|---:|" + "---|" * len(systems)
    for (database, what, goal), line in lines.items():
        cells = [_verdict(line[system]) if system in line else "" for system in systems]
        yield f"| {database} | {what} | {goal} | " + " | ".join(cells) + " |"


def _verdict(verdict: Verdict) -> str:
    return f"{verdict.reached:.2f} {'reached' if verdict.met else 'missed'}"


def _failures(results: Results) -> Iterator[str]:
    for failure in results.failures:
        yield f"- {failure.system} ({failure.database}), {failure.workload}, repeat {failure.repeat}: {failure.summary}"


def _unaccounted(results: Results) -> Iterator[str]:
    """Where what was handled and what is left, as the queue says, are not what was given."""
    for sample in results.samples:
        if number := sample.details.get("unaccounted"):
            yield f"- {sample.system} ({sample.database}), {sample.metric}, repeat {sample.repeat}: {number:+,}"
