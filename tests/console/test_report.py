"""How the demonstration's progress and outcome are shown."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from task_api import TaskState
from task_console.demo import Outcome
from task_console.report import Progress, show


def outcome(effects: int) -> Outcome:
    """The outcome of three tasks, two of which succeeded."""
    states = {"orders": {TaskState.SUCCEEDED: 2}, "mails": {TaskState.FAILED: 1}}
    return Outcome(states=states, pushed=3, decided=4, effects=effects, push_seconds=2.0, work_seconds=0.0)


def test_a_log_gets_a_line_at_every_quarter() -> None:
    """Without a terminal progress is a few plain lines, whatever the number of steps."""
    output = StringIO()
    with Progress(Console(file=output)) as progress:
        for done in range(1, 101):
            progress("pushed", done, 100)
    assert output.getvalue().splitlines() == [
        "pushed 25 of 100 tasks",
        "pushed 50 of 100 tasks",
        "pushed 75 of 100 tasks",
        "pushed 100 of 100 tasks",
    ]


def test_a_terminal_gets_bars() -> None:
    """On a terminal each phase has a bar that ends full."""
    output = StringIO()
    console = Console(file=output, force_terminal=True, color_system=None, width=80)
    with Progress(console) as progress:
        progress("pushed", 100, 100)
        progress("decided", 40, 100)
    assert "100/100" in output.getvalue()
    assert "40/100" in output.getvalue()
    assert "pushed 100 of 100 tasks" not in output.getvalue()


def test_the_summary_shows_states_rates_and_effects() -> None:
    """Only states that occur have a column, a topic without one shows zero, and no time gives no rate."""
    output = StringIO()
    show(Console(file=output, width=80), outcome(effects=2))
    table = [line.strip("│┃ ").split() for line in output.getvalue().splitlines()]
    assert ["topic", "┃", "FAILED", "┃", "SUCCEEDED"] in table
    assert ["orders", "│", "0", "│", "2"] in table
    assert ["mails", "│", "1", "│", "0"] in table
    assert "pushed  3 tasks in 2.00 s (2 per second)" in output.getvalue()
    assert "decided 4 times in 0.00 s (- per second" in output.getvalue()
    assert "each happened exactly once" in output.getvalue()


def test_the_summary_does_not_hide_a_difference() -> None:
    """More effects than succeeded tasks are said aloud."""
    output = StringIO()
    show(Console(file=output, width=80), outcome(effects=3))
    assert "effects 3, succeeded tasks 2: THEY DIFFER" in output.getvalue()
