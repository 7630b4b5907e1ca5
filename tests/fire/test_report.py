"""The figures of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fire import report
from tests.fire.conductor import Outcome
from tests.fire.pace import Blow
from tests.fire.plan import Plan

PAGE = "# Page\n\n<!-- fire sqlite -->\nNo long run.\n<!-- end of fire sqlite -->\n\n## More\n"
GUARANTEES = Path(__file__).resolve().parent.parent.parent / "docs" / "guarantees.md"


def outcome(**fields: object) -> Outcome:
    """A run with two faults."""
    plan = Plan(seed=3, database="sqlite", tasks=1000, workers=2, producers=1)
    blows = [Blow("kill", 10.0, 11.0, "killed one"), Blow("freeze", 14.0, 15.0, "froze one")]
    found = Outcome(plan, tasks=1234, seconds=20.0, samples=[50] * 60, blows=blows)
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def test_the_figures_name_what_happened() -> None:
    """Tasks, faults by kind, recoveries, and how to repeat it if a rule was broken."""
    text = report.text(report.figures(outcome(complaints={"order": ["x"]}), "command"))
    assert "1,234 tasks on sqlite in 20.0 s (62 a second)" in text
    assert "2 faults, recovered from 2 of 2" in text
    assert "BROKEN: order\n  x\nrepeat with: command" in text


def test_a_page_gets_the_figures() -> None:
    """Between its marks, whatever stood there before."""
    found = report.figures(outcome(), "command")
    filled = report.fill(report.fill(PAGE, found), found)
    assert filled.startswith("# Page\n\n<!-- fire sqlite -->\n1,234 tasks")
    assert "| kill | 1 | 0 s | 0 s |" in filled
    assert filled.endswith("    command\n<!-- end of fire sqlite -->\n\n## More\n")


def test_a_page_says_how_the_throughput_was_judged() -> None:
    """Amidst other faults, or alone, and at what rate."""
    calm = [Blow("kill", 10.0, 11.0, "killed one", calm=True)]
    plan = Plan(seed=3, database="sqlite", tasks=1000, workers=2, producers=1, calm=1, rate=1500.0)
    said = [report.section(report.figures(one, "command")) for one in (outcome(), outcome(blows=calm, plan=plan))]
    assert "it is judged, amidst others." in said[0]
    assert "it is judged, which struck alone, while 1,500 tasks came each second." in said[1]


def test_a_page_without_a_place_is_refused() -> None:
    """Nothing is written then."""
    with pytest.raises(ValueError, match="0 places"):
        report.fill("# Page\n", report.figures(outcome(), "command"))


def test_the_page_of_guarantees_has_a_place_for_each_database() -> None:
    """For PostgreSQL and for SQLite."""
    page = GUARANTEES.read_text(encoding="utf-8")
    for database in ("postgresql", "sqlite"):
        assert page.count(report.BEGIN.format(database=database)) == 1
        assert page.count(report.END.format(database=database)) == 1
