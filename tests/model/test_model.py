"""Random histories on each database, checked against the model (DESIGN.md, section 6)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.graphs import Graphs
from tests.model.whole import WholeHistories

if TYPE_CHECKING:
    from tests.backends import Backend

EXAMPLES = "TOPIQ_MODEL_EXAMPLES"
"""Set to a number for a long run on histories that differ each time."""
STEPS = "TOPIQ_MODEL_STEPS"
"""How long each of them is, beside."""


def profile() -> settings:
    """The same short histories each time, or many long ones."""
    examples = os.environ.get(EXAMPLES)
    return settings(
        max_examples=int(examples or 60),
        stateful_step_count=int(os.environ.get(STEPS) or (100 if examples else 40)),
        derandomize=not examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        print_blob=True,
    )


@pytest.mark.kinds("driver")
@pytest.mark.timeout(0 if EXAMPLES in os.environ else 600)  # shrinking takes five minutes at most
def test_repository_agrees_with_the_model(backend: Backend) -> None:
    """Whatever is called, committed or rolled back, repository and model agree (P1, P2, P3, P4, P7)."""
    run_state_machine_as_test(lambda: WholeHistories(backend), settings=profile())  # type: ignore[arg-type]


@pytest.mark.kinds("driver")
@pytest.mark.timeout(0 if EXAMPLES in os.environ else 600)
def test_dependencies_agree_with_the_model(backend: Backend) -> None:
    """Whatever waits for whatever, is decided or brought back, repository and model agree (P1, P6, P7)."""
    run_state_machine_as_test(lambda: Graphs(backend), settings=profile())  # type: ignore[arg-type]
