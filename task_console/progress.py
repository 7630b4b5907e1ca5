"""Progress of what takes long: a bar on a terminal, a few lines elsewhere, nothing for scripts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .render import Output

__all__ = ["progress"]

_STEPS = 4
_LONG = 10_000


@contextmanager
def progress(output: Output, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how far something is, on the standard error; what is given is called with what was done since."""
    console = Console(stderr=True, highlight=False)
    if output.json or (not console.is_terminal and total < _LONG):
        yield lambda _: None
    elif not console.is_terminal:
        yield _lines(output, what, total)
    else:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bars:
            bar = bars.add_task(what, total=total)
            yield lambda number: bars.update(bar, advance=number)


def _lines(output: Output, what: str, total: int) -> Callable[[int], None]:
    done = step = 0

    def advance(number: int) -> None:
        nonlocal done, step
        done += number
        if (reached := done * _STEPS // total) > step:
            step = reached
            output.note(f"{what}: {done} of {total}")

    return advance
