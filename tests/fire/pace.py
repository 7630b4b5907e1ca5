"""How much was done when, and what that says about recoveries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STEP = 0.5
"""Seconds that one sample covers."""
BEFORE = 10.0
"""Seconds whose mean is the level before a fault."""
AFTER = 2.0
"""Seconds whose mean must be back at that level."""
ENOUGH = 0.95
"""The part of the level that counts as being back."""


@dataclass(frozen=True, slots=True)
class Blow:
    """A fault that has struck."""

    fault: str
    begin: float
    """Seconds since the run began."""
    end: float
    story: str
    """What was done to whom."""
    calm: bool = False
    """Whether nothing else happened around it."""


def samples(said: Iterable[tuple[float, int]], start: float, end: float) -> list[int]:
    """How many tasks were decided in each step."""
    found = [0] * max(1, int((end - start) / STEP))
    for moment, number in said:
        place = math.floor((moment - start) / STEP)
        if 0 <= place < len(found):
            found[place] += number
    return found


def longest_stall(found: Sequence[int]) -> float:
    """Seconds of the longest time in which nothing was decided, once something was."""
    longest = length = 0
    begun = False
    for number in found:
        begun = begun or number > 0
        length = length + 1 if begun and not number else 0
        longest = max(longest, length)
    return longest * STEP


def recovery(found: Sequence[int], blow: Blow) -> float | None:
    """Seconds from the end of a fault until the throughput was back at its level; None if it never was."""
    begin, end, window = int(blow.begin / STEP), int(blow.end / STEP), int(AFTER / STEP)
    before = found[max(0, begin - int(BEFORE / STEP)) : begin]
    level = ENOUGH * fmean(before) if before else 0.0
    for place in range(end, len(found) - window + 1):
        if fmean(found[place : place + window]) >= level:
            return (place - end) * STEP
    return None


def recoveries(found: Sequence[int], blows: Iterable[Blow], limit: float) -> Mapping[str, list[float | None]]:
    """
    The recoveries from each kind of fault, without those that the end of the run came before.

    Where some had time enough around them, those alone are judged: of others it is not clear what from.
    """
    kinds: dict[str, list[float | None]] = {}
    struck = list(blows)
    calm = [blow for blow in struck if blow.calm]
    for blow in calm or struck:
        times = kinds.setdefault(blow.fault, [])
        time = recovery(found, blow)
        if time is not None or blow.end + limit + AFTER <= len(found) * STEP:
            times.append(time)
    return dict(sorted(kinds.items()))


def middle(times: Sequence[float | None]) -> float | None:
    """The median of recoveries; those that never came are the longest, and none at all is infinitely long too."""
    if not times:
        return None
    found = median(float("inf") if time is None else time for time in times)
    return None if found == float("inf") else found
