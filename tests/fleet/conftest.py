"""What the tests of a fleet need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet.crew import Crew

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    """The processes of the test."""
    crew = Crew(tmp_path)
    yield crew
    crew.dismiss()
