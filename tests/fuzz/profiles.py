"""How much is tried."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

EXAMPLES = "TOPIQ_FUZZ_EXAMPLES"
"""Set to a number for a long run, on calls that differ each time."""


def profile(few: int) -> settings:
    """The same few calls of each method each time, or many."""
    examples = os.environ.get(EXAMPLES)
    return settings(
        max_examples=int(examples or few),
        derandomize=not examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
    )
