"""What the demonstration shows: progress while it runs, tables when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text

from task_api import TaskState
from task_console.render import RIGHT, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from rich.console import Console, RenderableType

    from .run import Outcome, TopicOutcome

__all__ = ["Bars", "as_value", "summary"]

_STEPS = 4
_ENDS = (TaskState.SUCCEEDED, TaskState.FILTERED, TaskState.FAILED)


class Bars:
    """Bars on a terminal; elsewhere a plain line at every quarter, so that a log stays short."""

    def __init__(self, console: Console, *, silent: bool = False) -> None:
        self._console = console
        self._silent = silent
        columns = (TextColumn("{task.description:>8}"), BarColumn(bar_width=None), MofNCompleteColumn())
        live = console.is_terminal and not silent
        self._bars = Progress(
            *columns, TextColumn("{task.fields[rate]:>10}"), console=console, disable=not live, expand=True
        )
        self._ids: dict[str, TaskID] = {}
        self._steps: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, topic: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` tasks of the topic are decided."""
        if self._silent:
            return
        if not self._console.is_terminal:
            self._line(topic, done, total)
            return
        if topic not in self._ids:
            self._ids[topic] = self._bars.add_task(topic, total=total, rate="")
        bar = self._bars.tasks[self._ids[topic]]
        rate = "" if done == total or not bar.speed else f"{bar.speed:,.0f}/s"
        self._bars.update(self._ids[topic], completed=done, rate=rate)

    def _line(self, topic: str, done: int, total: int) -> None:
        step = done * _STEPS // total if total else 0
        if step > self._steps.get(topic, 0):
            self._steps[topic] = step
            self._console.print(f"{topic}: {done} of {total} decided", soft_wrap=True)


def summary(outcome: Outcome, width: int | None) -> Iterator[RenderableType]:
    """Return states, retries and latencies by topic, the rate, and whether effects and decisions agree."""
    header: dict[str, Any] = {"topic": {}}
    header |= {state.name: RIGHT for state in _ENDS} | dict.fromkeys(("retries", "median", "95 %"), RIGHT)
    yield table(header, [_row(topic, one) for topic, one in outcome.topics.items()], width=width)
    rate = outcome.tasks / outcome.seconds if outcome.seconds else 0
    yield (
        f"{outcome.tasks:,} tasks in {outcome.seconds:.1f} s on {_NAMES.get(outcome.database, outcome.database)}:"
        f" {rate:,.0f} per second, in one process."
    )
    agreed = "each exactly once." if outcome.effects == outcome.invoiced else "THEY DIFFER."
    invoices = "invoice" if outcome.invoiced == 1 else "invoices"
    were = "was" if outcome.effects == 1 else "were"
    yield f"{outcome.invoiced:,} {invoices} succeeded and {outcome.effects:,} {were} written: {agreed}"


def as_value(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as it is printed for scripts; times in seconds."""
    return {
        "database": outcome.database,
        "tasks": outcome.tasks,
        "seconds": round(outcome.seconds, 3),
        "effects": outcome.effects,
        "topics": {
            topic: {
                "states": {state.name: number for state, number in one.states.items()},
                "retries": one.retried,
                "median": one.median.total_seconds(),
                "slow": one.slow.total_seconds(),
            }
            for topic, one in outcome.topics.items()
        },
    }


_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def _row(topic: str, one: TopicOutcome) -> tuple[object, ...]:
    numbers = [one.states.get(state, 0) for state in _ENDS]
    counts = [Text(f"{number:,}", "" if number else "dim") for number in numbers]
    return (topic, *counts, f"{one.retried:,}", _time(one.median), _time(one.slow))


def _time(span: timedelta) -> str:
    seconds = span.total_seconds()
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
