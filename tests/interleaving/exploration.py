"""
All orders of the steps of a scenario's actors, each played once from the same beginning.

Orders that differ only in steps that commute are played once: who has been passed over for a step that commutes with
his own goes to sleep until a step comes that does not ("sleep sets").
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING

from task_sql import PostgresTaskRepository
from tests.interleaving.scenario import End, Scenario, end_of, prepare, require_singular, restore
from tests.interleaving.steps import Effect, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.interleaving.stage import Outcome, Script, Stage


class BadScheduleError(AssertionError):
    """An order whose end must not be."""


@dataclass
class Findings:
    """What an exploration saw."""

    schedules: int = 0
    """How many orders were played to their end."""
    redundant: int = 0
    """How many of them were like another."""
    deadlocks: int = 0
    """How many of them the database had to end."""
    longest: int = 0
    """The steps of the longest."""
    left: int = 0
    """How many were known and not played, because there was a limit."""
    ends: set[object] = field(default_factory=set)
    """The different things that were stored at the end."""

    def __str__(self) -> str:
        limit = f", more than {self.left} left out" if self.left else ""
        return (
            f"{self.schedules} schedules of up to {self.longest} steps ({self.redundant} redundant),"
            f" {len(self.ends)} ends, {self.deadlocks} deadlocks{limit}"
        )


@dataclass(frozen=True)
class _Branch:
    """The beginning of a schedule, and who sleeps after it."""

    prefix: tuple[str, ...]
    sleeping: frozenset[str] = frozenset()


@dataclass
class _Director:
    """Follows a branch, then goes on with whoever comes first, and notes the branches that it leaves out."""

    branch: _Branch
    steps: list[tuple[str, Step]] = field(default_factory=list)
    found: list[_Branch] = field(default_factory=list)
    redundant: bool = False
    sleeping: frozenset[str] = frozenset()

    def __call__(self, standing: Mapping[str, Step]) -> str:
        depth = len(self.steps)
        if depth < len(self.branch.prefix):
            chosen = self.branch.prefix[depth]
            if chosen not in standing:  # three that are let go at once need not come back in one order
                chosen = min(standing)
        else:
            if depth == len(self.branch.prefix):
                self.sleeping = self.branch.sleeping
            chosen = self._choose(standing)
        self.steps.append((chosen, standing[chosen]))
        return chosen

    def _choose(self, standing: Mapping[str, Step]) -> str:
        awake = sorted(standing.keys() - self.sleeping)
        if not awake:
            self.redundant = True
            return min(standing)
        passed = set(self.sleeping)
        for name in awake:
            asleep = frozenset(
                other for other in passed if other in standing and standing[other].commutes(standing[name])
            )
            if name == awake[0]:
                after = asleep
            elif not self.redundant:
                self.found.append(_Branch((*(who for who, _ in self.steps), name), asleep))
            passed.add(name)
        self.sleeping = after
        return awake[0]


class Exploration:
    """Plays one scenario in all orders."""

    def __init__(self, stage: Stage, scenario: Scenario) -> None:
        self._stage, self._scenario = stage, scenario
        self._last = prepare(stage.observer, scenario)
        self._serial: dict[tuple[str, ...], object] = {}

    def run(self, limit: int | None = None, seed: int | None = None) -> Findings:
        """Play all orders, or so many, and raise for the first whose end must not be."""
        findings = Findings()
        chance = random.Random(seed)  # noqa: S311 - nothing secret
        branches = [_Branch(())]
        while branches:
            if limit is not None and findings.schedules >= limit:
                findings.left = len(branches)
                break
            place = len(branches) - 1 if seed is None else chance.randrange(len(branches))
            branches[place], branches[-1] = branches[-1], branches[place]
            director = _Director(branches.pop())
            end = self._judged(director, findings)
            branches += director.found
            findings.schedules += 1
            findings.redundant += director.redundant
            findings.longest = max(findings.longest, len(director.steps))
            findings.ends.add(end.state)
        return findings

    def _judged(self, director: _Director, findings: Findings) -> End:
        try:
            end = self._play(director)
            deadlocked = any(outcome.deadlocked for outcome in end.outcomes.values())
            findings.deadlocks += deadlocked
            assert self._scenario.deadlocks or not deadlocked, "a deadlock"
            if self._scenario.serial:
                self._require_serial(end)
            self._scenario.judge(end)
        except AssertionError as error:
            raise BadScheduleError(_script(director.steps, error)) from error
        return end

    def _play(self, director: _Director) -> End:
        admin = self._stage.observer
        broken: list[AssertionError] = []

        def after(_name: str, step: Step) -> None:
            if self._scenario.singular and step.effect is Effect.END:
                try:
                    require_singular(admin)
                except AssertionError as error:
                    broken.append(error)

        restore(admin, self._last)
        parts = {name: self._part(name) for name in self._scenario.actors}
        outcomes = self._stage.play(parts, director, after)
        for error in broken:
            raise error
        later = {
            name: self._stage.play({name: (parts[name][0], script)}, min, _ignore)[name]
            for name, script in self._scenario.afterwards.items()
        }
        return end_of(admin, outcomes, later)

    def _part(self, name: str) -> tuple[PostgresTaskRepository, Script]:
        return PostgresTaskRepository(self._scenario.owners.get(name, name)), self._scenario.actors[name]

    def _require_serial(self, end: End) -> None:
        """Insist that the end is that of some order of whole transactions; who did nothing may be left out."""
        did = end.did()
        for order in _orders(sorted(did), sorted(end.outcomes.keys() - did)):
            if order not in self._serial:
                serial = self._one_by_one(order)
                self._serial[order] = serial.state, serial.did()
            if self._serial[order] == (end.state, did):
                return
        seen = "\n".join([str(end.values()), *map(str, end.rows)])
        message = f"no order of whole transactions ends like this:\n{seen}"
        raise AssertionError(message)

    def _one_by_one(self, order: Sequence[str]) -> End:
        admin = self._stage.observer
        restore(admin, self._last)
        outcomes: dict[str, Outcome] = {}
        for name in order:
            outcomes |= self._stage.play({name: self._part(name)}, min, _ignore)
        return end_of(admin, outcomes, {})


def _ignore(_name: str, _step: Step) -> None:
    """Look at no step."""


def _orders(did: Sequence[str], idle: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for number in range(2 ** len(idle)):
        beside = [name for place, name in enumerate(idle) if number >> place & 1]
        yield from permutations([*did, *beside])


def _script(steps: Sequence[tuple[str, Step]], error: AssertionError) -> str:
    lines = [f"{number:3} {name}: {step}" for number, (name, step) in enumerate(steps, 1)]
    return "\n".join([str(error), "after", *lines])
