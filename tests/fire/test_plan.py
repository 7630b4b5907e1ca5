"""What is drawn from a seed can be drawn again, and passed on as text."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from tests.fire.plan import Plan
from tests.fire.topics import TOPICS


def plan(seed: int) -> Plan:
    """A plan with some faults."""
    return Plan(seed=seed, database="sqlite", tasks=10, workers=4, producers=1, faults=("kill", "freeze", "clock"))


def schedule(plan: Plan) -> list[tuple[float, str, float]]:
    """The first faults, and the first number that each draws."""
    return [(strike.pause, strike.fault, strike.chance.random()) for strike in islice(plan.strikes(), 30)]


def test_the_same_seed_gives_the_same_schedule() -> None:
    """Pauses, kinds, and what each kind draws."""
    assert schedule(plan(1)) == schedule(plan(1))
    assert schedule(plan(1)) != schedule(plan(2))


def test_every_kind_strikes_before_one_strikes_again() -> None:
    """In rounds, with pauses as they are to be."""
    strikes = schedule(plan(3))
    assert all({fault for _, fault, _ in strikes[n : n + 3]} == {"kill", "freeze", "clock"} for n in range(0, 30, 3))
    assert all(2.0 <= pause <= 5.0 for pause, _, _ in strikes)


def test_a_plan_survives_as_text() -> None:
    """Also what it draws."""
    assert Plan.load(plan(1).dump()) == plan(1)
    assert Plan.load(plan(1).dump()).duties(0) == plan(1).duties(0)


def test_every_topic_has_several_workers() -> None:
    """Whatever the seed."""
    for seed in range(20):
        served = [duty.topic.name for worker in range(4) for duty in plan(seed).duties(worker)]
        assert all(served.count(topic.name) >= 2 for topic in TOPICS)


def test_without_faults_there_is_no_schedule() -> None:
    """Nothing strikes."""
    assert list(Plan(seed=1, database="sqlite", tasks=1, workers=1, producers=1).strikes()) == []


def test_in_calm_every_kind_strikes_as_often_as_it_is_to() -> None:
    """With time to recover in between."""
    calm = replace(plan(1), calm=2)
    strikes = list(calm.calm_strikes())
    assert sorted(strike.fault for strike in strikes) == ["clock", "clock", "freeze", "freeze", "kill", "kill"]
    assert all(strike.pause >= 2 * (calm.lease + 5) for strike in strikes)
    assert list(plan(1).calm_strikes()) == []
