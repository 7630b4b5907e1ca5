"""A schema that is upgraded while it is in use."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from task_sql import schema
from tests.fire.faults import FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.backends import Backend
    from tests.fire.faults.stage import Stage


@pytest.mark.backends("sqlite", "postgresql")
@pytest.mark.kinds("driver")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_schema_is_upgraded_under_load(backend: Backend, stage: Stage, tmp_path: Path, seed: int) -> None:
    """Old and new clients lose nothing; the database that it happened in is gone afterwards."""
    stage.database, stage.admin_url = backend.name, backend.url
    files = set(tmp_path.iterdir())
    said = FAULTS["upgrade"].strike(stage, Random(seed))  # noqa: S311 - to be repeated
    assert said.startswith(f"upgraded from version {schema.VERSION - 1} after ")
    assert {file.name for file in set(tmp_path.iterdir()) - files if file.name.startswith("older")} == set()
    if backend.name == "postgresql":
        assert backend.sql("SELECT count(*) FROM pg_database WHERE datname LIKE 'older%'") == [(0,)]
