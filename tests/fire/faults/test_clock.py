"""Members whose wall clock is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.faults import FAULTS
from tests.fire.faults.inside import Order, tell
from tests.fire.faults.stage import TICKING, Extra

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.fire.faults.stage import Stage

TELLING = """
import time
import task_processor.statistics as early
from tests.fire.faults import inside
inside.obey()
import datetime
before = datetime.datetime.now(datetime.timezone.utc)
while True:
    moment = early.datetime.now(datetime.UTC)
    assert isinstance(moment, datetime.datetime) and isinstance(moment, early.datetime)
    offset = {round(value - time.clock_gettime(time.CLOCK_REALTIME), -2) for value in (
        time.time(), time.time_ns() / 1e9, moment.timestamp(), datetime.datetime.now().timestamp())}
    print(*offset, file=diary)
    time.sleep(0.01)
"""
"""A program that writes down how far its clocks are from the machine's, by all ways to ask, as long as they agree."""


def test_a_clock_jumps_and_comes_back(stage: Stage, chance: Random, tmp_path: Path) -> None:
    """An hour off, whoever asks, and right again."""
    stage.members = [Extra("one", tmp_path, TELLING)]
    stage.members[0].wait()
    assert "clocks of one an hour" in FAULTS["clock"].strike(stage, chance)
    stage.members[0].wait(2)
    offsets = [float(line) for line in stage.members[0].lines if " " not in line]
    assert {abs(offset) for offset in offsets} == {0.0, 3600.0}
    assert offsets[-1] == 0


def test_who_does_not_listen_is_left_alone(stage: Stage, tmp_path: Path) -> None:
    """A process that would end by the signal does not get it."""
    stage.members = [Extra("one", tmp_path, TICKING)]
    stage.members[0].wait()
    assert not tell(stage.members[0].pid, Order.AHEAD)
    stage.members[0].wait()
