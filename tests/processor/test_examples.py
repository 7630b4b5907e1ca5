"""The examples run as they stand."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import make_url

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    "asyncio_producer": """\
201 order 1
409 there is no unicorn
201 order 3
201 order 4
order 1: apple, confirmed
order 3: pear, confirmed
order 4: plum, confirmed
""",
    "dask_cluster": """\
20 factorized, 20 left out
1001 = 7 x 143
""",
    "five_minute_report": """\
2016 slots to do
a worker died: 492 done, 0 held, 1524 open, 492 reports
another one died with a slot: 492 done, 1 held, 1523 open, 492 reports
the third one did the rest: 2016 done, 0 held, 0 open, 2016 reports
Thursday 03:15: total 0, 1 failure
data came late: 2015 done, 0 held, 1 open, 2016 reports
Thursday 03:15: total 50
covered: True, 0 missing, a total of 10125
""",
    "document_check": """\
topic 'documents': task visa (3) was taken over while it was worked on; what came of that is dropped
passport: SUCCEEDED, valid, known by asking
licence: SUCCEEDED, forged, known by callback
visa: SUCCEEDED, expired, known by callback
""",
    "branch_export": """\
Berlin: begun
Paris: begun
Berlin: under way
Berlin: SUCCEEDED, 3 copies, then Berlin/DONE
Paris: SUCCEEDED, 2 copies, then Paris/DONE
Berlin: begun
Berlin: SUCCEEDED
11 files
""",
    "day_long_job": """\
worker 1 ended with 0 after hour 1
worker 2 ended with 0 after hour 8
worker 3 ended with 0 after hour 24
SUCCEEDED at attempt 1: 24 hours of work
""",
}


def test_every_example_is_run() -> None:
    """There is none without an expected output (TM-B10)."""
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == EXPECTED.keys()


@pytest.mark.parametrize(
    ("name", "need"), [("asyncio_producer", '``pip install ".[asyncio]"``'), ("dask_cluster", "``distributed``")]
)
def test_an_example_that_needs_more_says_so(name: str, need: str) -> None:
    """What a plain installation does not bring along is named where the example is described."""
    description = ast.get_docstring(ast.parse((ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")))
    assert need in (description or "")


@pytest.fixture
def empty_database(postgresql_url: str) -> Iterator[str]:
    """The URL of a PostgreSQL database with nothing in it."""
    name = f"examples_{uuid4().hex}"
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        yield make_url(postgresql_url).set(database=name).render_as_string(hide_password=False)
        # Without force: an example that leaves a connection behind is found out.
        connection.execute(f"DROP DATABASE {name}".encode())


def run(name: str, folder: Path, *arguments: str) -> None:
    """Run an example and compare what it prints."""
    paths = [*map(str, [] if "TOPIQ_TEST_INSTALLED" in os.environ else [ROOT]), os.environ.get("PYTHONPATH", "")]
    result = subprocess.run(  # noqa: S603 - our own example
        [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py"), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (result.stdout, result.stderr, result.returncode) == (EXPECTED[name], "", 0)


@pytest.mark.parametrize("name", EXPECTED)
def test_example_prints_what_it_says(name: str, tmp_path: Path) -> None:
    """Each example is a whole program that runs without a warning, and leaves nothing behind (TM-B10)."""
    run(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", EXPECTED)
def test_example_does_the_same_on_postgresql(name: str, tmp_path: Path, empty_database: str) -> None:
    """Each example takes a URL and does not care which database that is (TM-B10)."""
    run(name, tmp_path, empty_database)
