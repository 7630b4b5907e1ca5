"""The short form of the benchmarks runs from end to end, on every database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.harness.catalogue import SYSTEMS, Database
from benchmarks.harness.metrics import Table, metrics
from benchmarks.harness.results import Results

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.timeout(600)
def test_quick_run_prints_every_row(postgresql_url: str, tmp_path: Path) -> None:
    """Every system that takes part has its row, every figure its column; nothing fails and nothing is timed."""
    run = subprocess.run(  # noqa: S603 - our own program
        [
            sys.executable,
            str(ROOT / "benchmarks" / "run.py"),
            "--quick",
            "--postgresql",
            postgresql_url,
            "--folder",
            str(tmp_path),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=570,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    [stored] = (tmp_path / "results").glob("*.json")
    results = Results.load(stored)
    assert results.failures == []
    for database in Database:
        expected = {system.name for system in SYSTEMS if system.brief and system.database is database}
        assert {system.name for system in results.systems(database)} == expected
        part = run.stdout.partition(f"## {database.value}\n")[2].partition("\n## ")[0]
        assert {
            line.split(" | ")[0].removeprefix("| ") for line in part.splitlines() if line.startswith("| ")
        } >= expected
    assert {sample.metric for sample in results.samples} == {metric.key for metric in metrics(results.scale)}
    for title in [*(table.value for table in Table), "Chart", "Goals"]:
        assert f"# {title}\n" in run.stdout
