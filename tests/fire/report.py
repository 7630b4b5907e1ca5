"""The figures of a run, for people."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.fire import pace

if TYPE_CHECKING:
    from tests.fire.conductor import Outcome

Figures = dict[str, Any]
BEGIN, END = "<!-- fire {database} -->", "<!-- end of fire {database} -->"
"""What encloses the figures of a database on a page."""


def figures(outcome: Outcome, command: str) -> Figures:
    """What there is to tell."""
    plan = outcome.plan
    recoveries = pace.recoveries(outcome.samples, outcome.blows, plan.lease + 5)
    times = [time for kind in recoveries.values() for time in kind]
    return {
        "command": command,
        "database": plan.database,
        "seed": plan.seed,
        "workers": plan.workers,
        "producers": plan.producers,
        "tasks": outcome.tasks,
        "seconds": round(outcome.seconds, 1),
        "rate": round(outcome.tasks / outcome.seconds) if outcome.seconds else 0,
        "faults": dict(sorted(Counter(blow.fault for blow in outcome.blows).items())),
        "calm": any(blow.calm for blow in outcome.blows),
        "calm rate": plan.rate,
        "judged": len(times),
        "recovered": sum(time is not None for time in times),
        "lost claims": outcome.lost,
        "longest stall": pace.longest_stall(outcome.samples),
        "limit": plan.lease + 5,
        "recovery": {kind: pace.middle(times) for kind, times in recoveries.items()},
        "slowest": {kind: _slowest(times) for kind, times in recoveries.items()},
        "complaints": outcome.complaints,
        "story": [f"{blow.begin:.1f} s: {blow.fault}: {blow.story}" for blow in outcome.blows],
        "samples": outcome.samples,
    }


def text(found: Figures) -> str:
    """As a few lines."""
    faults, rate = found["faults"], f"{found['rate']:,} a second"
    lines = [
        " ".join(
            (
                f"{found['tasks']:,} tasks on {found['database']} in {found['seconds']} s ({rate}),",
                f"{found['workers']} workers, {found['producers']} producers, seed {found['seed']}",
            )
        ),
        " ".join(
            (
                f"{sum(faults.values())} faults, recovered from {found['recovered']} of {found['judged']};",
                f"longest stall {found['longest stall']} s; {found['lost claims']} claims lost to others",
            )
        ),
    ]
    for kind, number in faults.items():
        lines.append(f"  {kind:<12} {number:>5} times, back at 95 % after {_seconds(found['recovery'][kind])}")
    for name, complaints in found["complaints"].items():
        lines += [f"BROKEN: {name}", *(f"  {complaint}" for complaint in complaints)]
    lines.append(f"repeat with: {found['command']}" if found["complaints"] else "audited clean")
    return "\n".join(lines)


def dump(found: Figures) -> str:
    """For programs."""
    return json.dumps(found, indent=2)


def section(found: Figures) -> str:
    """For a page."""
    faults = found["faults"]
    verdict = "audited clean" if not found["complaints"] else f"broken: {', '.join(found['complaints'])}"
    lines = [
        f"{found['tasks']:,} tasks, {found['workers']} workers, {found['producers']} producers, seed {found['seed']},",
        f"in {found['seconds']:,.0f} s: **{verdict}**.",
        f"{sum(faults.values())} faults; longest stall {found['longest stall']} s; {found['lost claims']:,} claims",
        f"lost to others. The throughput came back after {found['recovered']} of {found['judged']} faults by which",
        _judged(found),
        "",
        "| fault | times | back at 95 %, median | slowest |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {kind} | {number} | {_seconds(found['recovery'][kind])} | {_seconds(found['slowest'][kind])} |"
        for kind, number in faults.items()
    ]
    lines += ["", f"Lease and 5 s: {found['limit']:g} s. Repeat it with", "", f"    {found['command']}"]
    return "\n".join(lines)


def fill(page: str, found: Figures) -> str:
    """Put the figures into a page, where those of the same database stood before."""
    begin, end = (mark.format(database=found["database"]) for mark in (BEGIN, END))
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    filled, number = pattern.subn(lambda _: f"{begin}\n{section(found)}\n{end}", page)
    if number != 1:
        message = f"the page has {number} places between {begin} and {end}, not one"
        raise ValueError(message)
    return filled


def _judged(found: Figures) -> str:
    if not found["calm"]:
        return "it is judged, amidst others."
    rate = f", while {found['calm rate']:,.0f} tasks came each second" if found["calm rate"] else ""
    return f"it is judged, which struck alone{rate}."


def _slowest(times: list[float | None]) -> float | None:
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def _seconds(time: float | None) -> str:
    return "?" if time is None else f"{time:g} s"
