"""The examples run as they stand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EXPECTED = {
    "quickstart": """\
SUCCEEDED after 1: Hello Ann, here is a cake
SUCCEEDED after 2: Hello Bob, here is a cake
SUCCEEDED after 1: Hello Cid, here is a cake
""",
    "batch": """\
900 rows exported
900 succeeded, 100 filtered
""",
    "composite": """\
orders: order 1 SUCCEEDED
orders: order 2 FILTERED we have no plum
orders: order 3 SUCCEEDED
invoices: order 1 SUCCEEDED paid 2.38
invoices: order 3 SUCCEEDED paid 3.57
""",
    "transactional_claim": """\
rent: SUCCEEDED
car: FAILED
food: SUCCEEDED
giro: 10
savings: 90
""",
}


def test_every_example_is_run() -> None:
    """There is none without an expected output (TM-B10)."""
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_example_prints_what_it_says(name: str, tmp_path: Path) -> None:
    """Each example is a whole program that runs without a warning (TM-B10)."""
    paths = [*map(str, [] if "TOPIQ_TEST_INSTALLED" in os.environ else [ROOT]), os.environ.get("PYTHONPATH", "")]
    result = subprocess.run(  # noqa: S603 - our own example
        [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.stdout, result.stderr, result.returncode) == (EXPECTED[name], "", 0)
