"""The short form: everything that can break does, and every promise is kept (P1 to P8)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.fire import report
from tests.fire.conductor import Conductor
from tests.fire.faults import FAULTS
from tests.fire.plan import Plan
from tests.fire.stage import stage

if TYPE_CHECKING:
    from pathlib import Path

SEED = int(os.environ.get("TOPIQ_FIRE_SEED", "7"))
pytestmark = pytest.mark.timeout(1200)


def burn(database: str, folder: Path, faults: list[str], *, tasks: int, workers: int) -> None:
    """Run until every fault has struck, and insist that no rule was broken."""
    options = f"--database {database} --tasks {tasks} --workers {workers} --producers 2 --seed {SEED} --every 2 3"
    command = f"python -m tests.fire {options} --backlog 3000 --batch 20 200 --faults {','.join(faults)}"
    plan = Plan(
        seed=SEED,
        database=database,
        tasks=tasks,
        workers=workers,
        producers=2,
        faults=tuple(faults),
        every=(2.0, 3.0),
        backlog=3_000,
        batch=(20, 200),
        patience=300.0,
    )
    with stage(plan, folder) as built:
        outcome = Conductor(plan, built, folder).run()
    text = report.text(report.figures(outcome, command))
    assert not outcome.complaints, f"{text}\n{folder}"
    assert {blow.fault for blow in outcome.blows} == set(faults), text
    assert outcome.tasks >= tasks, text


def kinds(database: str) -> list[str]:
    """The faults that a database can have."""
    return sorted(name for name, fault in FAULTS.items() if database in fault.databases)


def test_postgresql_keeps_its_promises_under_fire(tmp_path: Path) -> None:
    """Processes, sessions, servers and the network fail, and nothing is lost, doubled or left behind (P1 to P8)."""
    burn("postgresql", tmp_path, kinds("postgresql"), tasks=10_000, workers=4)


def test_sqlite_keeps_its_promises_under_fire(tmp_path: Path) -> None:
    """Processes and the disk fail, and nothing is lost, doubled or left behind (P1 to P8)."""
    burn("sqlite", tmp_path, kinds("sqlite"), tasks=3_000, workers=3)
