"""What samples of the throughput say."""

from __future__ import annotations

import pytest

from tests.fire import pace
from tests.fire.pace import Blow


def test_decisions_are_sampled_by_their_time() -> None:
    """Each step has what was decided in it; what lies outside is left out."""
    assert pace.samples([(10.1, 3), (10.4, 4), (11.2, 5), (9.9, 1), (12.0, 1)], 10.0, 12.0) == [7, 0, 5, 0]


@pytest.mark.parametrize(
    ("found", "seconds"),
    [([0, 0, 0, 5, 5], 0.0), ([5, 0, 0, 5, 0, 5], 1.0), ([5, 0, 0, 0], 1.5), ([], 0.0)],
)
def test_the_longest_stall_begins_after_the_first_decision(found: list[int], seconds: float) -> None:
    """What comes before the start is no stall."""
    assert pace.longest_stall(found) == seconds


@pytest.mark.parametrize(
    ("after", "seconds"),
    [([100] * 10, 0.0), ([0, 0, 0, 100, 100, 100, 100], 1.5), ([0] * 10, None), ([94] * 10, None), ([95] * 4, 0.0)],
)
def test_a_recovery_ends_when_the_level_is_reached_again(after: list[int], seconds: float | None) -> None:
    """It takes the mean of two seconds at 95 % of that of ten, from the end of the fault on."""
    assert pace.recovery([100] * 20 + [0] * 4 + after, Blow("kill", 10.0, 12.0, "")) == seconds


def test_the_median_counts_what_never_recovered_as_longest() -> None:
    """One of three that never did is not the median; two of three are."""
    assert pace.middle([1.0, None, 2.0]) == 2.0
    assert pace.middle([1.0, None, None]) is None
    assert pace.middle([]) is None


def test_recoveries_are_grouped_by_kind() -> None:
    """In the order of their names."""
    blows = [Blow("kill", 10.0, 10.0, ""), Blow("cut", 10.0, 11.0, ""), Blow("kill", 11.0, 11.0, "")]
    assert pace.recoveries([100] * 40, blows, 5.0) == {"cut": [0.0], "kill": [0.0, 0.0]}


def test_what_the_end_came_before_is_not_judged() -> None:
    """The last seconds of a run say nothing about what happened in them."""
    samples = [100] * 20 + [0] * 20
    assert pace.recoveries(samples, [Blow("kill", 10.0, 11.0, "")], 5.0) == {"kill": [None]}
    assert pace.recoveries(samples, [Blow("kill", 10.0, 14.0, "")], 5.0) == {"kill": []}


def test_faults_in_calm_are_preferred() -> None:
    """What happened amidst other faults is not judged then."""
    samples = [100] * 20 + [0] * 20 + [100] * 60
    blows = [Blow("kill", 10.0, 10.0, ""), Blow("kill", 30.0, 31.0, "", calm=True)]
    assert pace.recoveries(samples, blows, 5.0) == {"kill": [0.0]}
    assert pace.recoveries(samples, blows[:1], 5.0) == {"kill": [10.0]}
