"""Processes that are killed, and processes that are frozen."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.fire.faults import FAULTS
from tests.fire.faults.stage import Extra

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fire.faults.stage import Stage


@pytest.fixture
def stage(stage: Stage, tmp_path: Path) -> Stage:
    """A scene with three processes at work."""
    stage.members = [Extra(name, tmp_path) for name in ("one", "two", "three")]
    for member in stage.members:
        member.wait()
    return stage


def test_killed_processes_are_started_again(stage: Stage, chance: Random) -> None:
    """Those that are named, and no others, are new processes, which work."""
    before = {member.name: member.pid for member in stage.members}
    said = FAULTS["kill"].strike(stage, chance)
    changed = [member for member in stage.members if member.pid != before[member.name]]
    assert said.startswith(f"killed {', '.join(member.name for member in changed)}, started")
    assert changed
    for member in stage.members:
        member.wait()


def test_frozen_processes_do_nothing_and_go_on(stage: Stage, chance: Random) -> None:
    """Those that are named, and no others, were silent for so long, and work again."""
    said = FAULTS["freeze"].strike(stage, chance)
    for member in stage.members:
        member.wait()
    frozen = [member for member in stage.members if member.name in said]
    begin, end = max((gap(member) for member in frozen), key=lambda found: found[1] - found[0])
    assert all(after - before >= stage.silence for before, after in map(gap, frozen))
    for member in stage.members:
        assert (member in frozen) is not any(begin + 0.1 < float(line) < end - 0.1 for line in member.lines)


def gap(member: Extra) -> tuple[float, float]:
    """The longest time in which it wrote nothing."""
    return max(pairwise(map(float, member.lines)), key=lambda found: found[1] - found[0])


def test_the_same_chance_does_the_same(stage: Stage) -> None:
    """What is done to whom comes from the generator alone."""
    first, second = (FAULTS["kill"].strike(stage, Random(3)) for _ in range(2))  # noqa: S311 - to be repeated
    assert first == second
