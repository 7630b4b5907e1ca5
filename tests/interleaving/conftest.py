"""How these tests explore."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.interleaving.exploration import Exploration, Findings
from tests.interleaving.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.backends import Backend
    from tests.interleaving.scenario import Scenario

LONG = "TOPIQ_INTERLEAVINGS"
"""Set to a number to play so many orders of each scenario that is large, or to "all"."""
_FEW = 30


class Explore(Protocol):
    """Plays a scenario in all orders, or in some of them."""

    def __call__(self, scenario: Scenario) -> Findings:
        """Raise for the first order whose end must not be."""


@pytest.fixture
def stage(backend: Backend) -> Iterator[Stage]:
    """Three connections and one that watches."""
    stage = Stage(backend.dsn, 3)
    yield stage
    stage.close()


@pytest.fixture
def explore(stage: Stage, record_property: Callable[[str, object], None]) -> Explore:
    """Explore, and record what was seen: all orders, or some of many unless more are asked for."""

    def run(scenario: Scenario) -> Findings:
        asked = os.environ.get(LONG) or str(_FEW)
        large = scenario.large or len(scenario.actors) > 2
        limit = int(asked) if large and asked != "all" else None
        findings = Exploration(stage, scenario).run(limit, seed=None if limit is None else 1)
        record_property("interleavings", str(findings))
        print(findings)  # noqa: T201 - shown by -rP or -s
        return findings

    return run
