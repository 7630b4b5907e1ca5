"""What the harness makes of figures."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.harness.catalogue import SYSTEMS, Database, Role, Skill
from benchmarks.harness.chart import bar, chart
from benchmarks.harness.goals import verdicts
from benchmarks.harness.measuring import Measuring
from benchmarks.harness.page import insert
from benchmarks.harness.report import report
from benchmarks.harness.results import Failure, Results, Sample
from benchmarks.harness.scale import FULL
from benchmarks.harness.workloads import WORKLOADS

if TYPE_CHECKING:
    from benchmarks.harness.catalogue import System

ROOT = Path(__file__).resolve().parent.parent.parent
POSTGRESQL = Database.POSTGRESQL


def results(**figures: list[float]) -> Results:
    """The figures of some systems on PostgreSQL; ``raw__push`` is raw's when pushing."""
    found = Results(FULL, {"machine": "a small one"})
    for name, values in figures.items():
        system, _, metric = name.partition("__")
        found.samples += [
            Sample(POSTGRESQL.value, system.replace("_", " "), metric.replace("_", " "), repeat, value, 0.0, 0.0, {})
            for repeat, value in enumerate(values, start=1)
        ]
    return found


def test_median_ratio_and_spread() -> None:
    """The median counts, the ratio is to raw's, the spread is that of the repeats."""
    found = results(raw__push=[100.0, 300.0, 200.0], topiq__push=[150.0, 100.0, 90.0])
    assert found.median(POSTGRESQL, "raw", "push") == 200.0
    assert found.ratio(POSTGRESQL, "topiq", "push") == 0.5
    assert found.spread(POSTGRESQL, "raw", "push") == 1.0
    assert found.median(POSTGRESQL, "raw", "bulk") is None
    assert found.ratio(POSTGRESQL, "topiq", "bulk") is None


def test_ratio_is_to_what_was_measured_beside() -> None:
    """Raw's figures right before and after count, and not those of when the machine was faster or slower."""
    found = Results(FULL, {})
    for name, value in [("raw", 100), ("topiq", 90), ("raw", 80), ("topiq", 20), ("raw", 20), ("pgmq", 9)]:
        found.samples.append(Sample(POSTGRESQL.value, name, "push", 1, float(value), 0.0, 0.0, {}))
    assert found.ratio(POSTGRESQL, "topiq", "push") == (1.0 + 0.4) / 2
    assert found.ratio(POSTGRESQL, "pgmq", "push") == 9 / 20
    assert found.ratio(POSTGRESQL, "raw", "push") == 1.0
    assert found.median(POSTGRESQL, "topiq", "push") == 55
    assert results(raw__push=[0.0], topiq__push=[8.0]).ratio(POSTGRESQL, "topiq", "push") is None


def test_floor_is_measured_between_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before and after each two of them, in workloads that are compared with it; elsewhere it has a turn of its own."""
    seen: list[str] = []
    monkeypatch.setattr(Measuring, "_able", lambda *_: True)
    monkeypatch.setattr(Measuring, "_turn", lambda _, system, *__: seen.append(system.name))
    names = ["raw", "topiq", "topiq driver", "pgmq"]
    some = [system for system in SYSTEMS if system.name in names and system.database is POSTGRESQL]
    place: Any = None
    measuring = Measuring(place, results(), save=lambda: None, say=lambda _: None)
    measuring.run(some, [workload for workload in WORKLOADS if workload.name in {"push", "churn"}], 1)
    assert seen == ["raw", "topiq", "topiq driver", "raw", "pgmq", "raw", *names]


def test_systems_take_turns_and_some_workloads_come_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each second repeat goes the other way, without the workloads that are measured once."""
    seen: list[tuple[int, str, str]] = []
    monkeypatch.setattr(Measuring, "_able", lambda *_: True)
    monkeypatch.setattr(
        Measuring, "_turn", lambda _, system, load, repeat: seen.append((repeat, load.name, system.name))
    )
    push, bulk = WORKLOADS[:2]
    two = [system for system in SYSTEMS if system.name in {"pgmq", "pgqueuer"}]
    place: Any = None
    Measuring(place, results(), save=lambda: None, say=lambda _: None).run(two, [push, bulk], 2, {"bulk"})
    first, second = (system.name for system in two)
    once = [(1, "push", first), (1, "push", second), (1, "bulk", first), (1, "bulk", second)]
    assert seen == [*once, (2, "push", second), (2, "push", first)]


def test_runs_are_joined() -> None:
    """What several runs on a machine have measured is reported as one."""
    found, other = results(raw__push=[100.0]), results(raw__push=[300.0], topiq__push=[100.0])
    other.scale = replace(other.scale, history=(5_000_000,), memory=9)
    found.join(other)
    assert found.median(POSTGRESQL, "raw", "push") == 200.0
    assert found.ratio(POSTGRESQL, "topiq", "push") == 1 / 3
    assert (found.scale.history, found.scale.memory) == ((1_000_000, 5_000_000), 9)


def test_best_peer_is_a_peer() -> None:
    """Neither raw nor topiq is one, and for a latency the lowest is the best."""
    found = results(raw__push=[8.0], topiq__push=[8.0], pgmq__push=[4.0], chancy__push=[2.0], pgmq__topics=[7.0])
    assert found.best_peer(POSTGRESQL, "push", rising=True) == ("pgmq", 0.5)
    assert found.best_peer(POSTGRESQL, "push", rising=False) == ("chancy", 0.25)
    assert found.best_peer(POSTGRESQL, "topics", rising=True) == ("pgmq", 7.0)
    assert found.best_peer(POSTGRESQL, "bulk", rising=True) is None


def test_goals_differ_by_claim() -> None:
    """A drain on committed claims is to reach 0.75 of raw, one on transactional claims 1.1."""
    found = results(raw__drain_x1=[100.0], topiq__drain_x1=[80.0], topiq_tx__drain_x1=[80.0])
    judged = {verdict.system: (verdict.goal, verdict.met) for verdict in verdicts(found)}
    assert judged == {"topiq": (0.75, True), "topiq tx": (1.1, False)}


def test_goal_of_latency_is_a_limit() -> None:
    """Less is better: at most 1.3 times raw's, and no more than the best peer's."""
    found = results(raw__latency_p50=[2.0], topiq__latency_p50=[2.5], pgmq__latency_p50=[2.4])
    judged = [(verdict.what, verdict.met) for verdict in verdicts(found)]
    assert judged == [("latency p50 ÷ raw", True), ("latency p50 ÷ best peer (pgmq)", False)]


def test_report_has_figures_ratios_verdicts_and_failures() -> None:
    """What was measured is printed, and so is what was not."""
    found = results(raw__drain_x1=[40_000.0, 40_000.0], topiq__drain_x1=[32_000.0, 28_000.0])
    found.failures.append(Failure(POSTGRESQL.value, "pgmq", "drain", 1, "Traceback\nno such thing"))
    text = report(found)
    assert "- machine: a small one\n" in text
    assert "| | drain, 1 worker, /s |\n|---|---:|\n| raw | 40,000 |\n| topiq | 30,000 (0.75) |\n" in text
    assert "| topiq | 13% |\n" in text
    assert "| PostgreSQL | drain x1 ÷ raw | ≥ 0.75 | 0.75 reached |\n" in text
    assert "- pgmq (PostgreSQL), drain, repeat 1: no such thing\n" in text


def test_results_survive_their_file(tmp_path: Path) -> None:
    """The report of a run can be printed again."""
    found = results(raw__push=[1.0], topiq__push=[2.0])
    found.failures.append(Failure(POSTGRESQL.value, "pgmq", "push", 1, "no"))
    found.save(tmp_path / "results.json")
    assert Results.load(tmp_path / "results.json") == found


def test_bars_are_as_long_as_their_part() -> None:
    """The longest fills the width."""
    assert (bar(1.0), bar(0.5), bar(0.0)) == ("█" * 40, "█" * 20, "")
    lines = chart(results(raw__push=[100.0], topiq__push=[25.0]), POSTGRESQL)
    assert lines[0] == "push one by one ÷ raw (longer is better)"
    assert [line.count("█") for line in lines[1:]] == [40, 10]


def test_each_skill_has_its_workload() -> None:
    """Nobody claims to be able to do what nobody asks for; listing is a part of the history."""
    assert {workload.skill for workload in WORKLOADS} == set(Skill) - {Skill.LISTING}


@pytest.mark.parametrize("database", Database)
def test_each_database_has_one_floor_and_unique_names(database: Database) -> None:
    """The others are divided by it, and rows are told apart by name."""
    systems = [system for system in SYSTEMS if system.database is database]
    assert [system.name for system in systems if system.role is Role.FLOOR] == ["raw"]
    assert len({system.name for system in systems}) == len(systems)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system.database.name}-{system.name}")
def test_system_has_adapter_and_pinned_requirements(system: System) -> None:
    """Each entry of the catalogue can be found, and peers are the versions that were measured."""
    module, _, kind = system.adapter.partition(":")
    spec = importlib.util.find_spec(f"benchmarks.adapters.{module}")
    assert spec is not None
    assert spec.origin is not None
    assert f"\nclass {kind}(" in Path(spec.origin).read_text(encoding="utf-8")
    assert (system.venv is None) is (system.role is not Role.PEER)
    if system.venv is not None:
        lines = (ROOT / "benchmarks" / "requirements" / f"{system.venv}.txt").read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if not re.fullmatch(r"[\w-]+(\[[\w,]+\])?==[\w.]+", line)] == []


def test_page_shows_the_newest_report(tmp_path: Path) -> None:
    """A report takes the place of the one before, between the marks that the page of the documentation has."""
    page = tmp_path / "performance.md"
    page.write_text((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"), encoding="utf-8")
    insert(page, "old figures\n")
    before = page.read_text(encoding="utf-8")
    insert(page, "new figures\n")
    assert "old figures" in before
    assert page.read_text(encoding="utf-8") == before.replace("old figures", "new figures")


def test_page_without_marks_is_refused(tmp_path: Path) -> None:
    """Nothing is written where a report has no place."""
    page = tmp_path / "other.md"
    page.write_text("# Other\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="has no marks"):
        insert(page, "figures\n")
    assert page.read_text(encoding="utf-8") == "# Other\n"
