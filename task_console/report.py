"""What the demonstration shows: progress while it runs, tables when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bars
from rich.table import Table

from task_api import TaskState

if TYPE_CHECKING:
    from rich.console import Console

    from .demo import Outcome

__all__ = ["Progress", "show"]

_STEPS = 4


class Progress:
    """Bars on a terminal; elsewhere a plain line at every quarter, so that a log stays short."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Bars(
            TextColumn("{task.description:>8}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._ids: dict[str, TaskID] = {}
        self._steps: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` tasks have passed this phase."""
        if self._console.is_terminal:
            if phase not in self._ids:
                self._ids[phase] = self._bars.add_task(phase, total=total)
            self._bars.update(self._ids[phase], completed=done)
            return
        step = done * _STEPS // total
        if step > self._steps.get(phase, 0):
            self._steps[phase] = step
            self._console.print(f"{phase} {done} of {total} tasks", highlight=False)


def show(console: Console, outcome: Outcome) -> None:
    """Print the states by topic, the rates, and whether effects and decisions agree."""
    console.print(_states(outcome))
    console.print(
        f"pushed  {outcome.pushed} tasks in {outcome.push_seconds:.2f} s "
        f"({_rate(outcome.pushed, outcome.push_seconds)} per second)",
        f"decided {outcome.decided} times in {outcome.work_seconds:.2f} s "
        f"({_rate(outcome.decided, outcome.work_seconds)} per second, retries and their delay included)",
        f"effects {outcome.effects}, succeeded tasks {outcome.succeeded}: "
        + ("each happened exactly once" if outcome.effects == outcome.succeeded else "THEY DIFFER"),
        sep="\n",
        highlight=False,
        soft_wrap=True,
    )


def _states(outcome: Outcome) -> Table:
    present = [state for state in TaskState if any(state in states for states in outcome.states.values())]
    table = Table("topic")
    for state in present:
        table.add_column(state.name, justify="right")
    for topic, states in outcome.states.items():
        table.add_row(topic, *(str(states.get(state, 0)) for state in present))
    return table


def _rate(count: int, seconds: float) -> str:
    return f"{count / seconds:,.0f}" if seconds else "-"
