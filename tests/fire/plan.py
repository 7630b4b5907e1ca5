"""Everything about a run that is drawn from its seed, as text for the processes that take part in it."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tests.fire.topics import TOPICS, Topic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Duty:
    """How one worker works on one topic."""

    topic: Topic
    claim: str
    size: int
    """How many tasks make a batch."""
    lease: float | None
    """Seconds that its claims last."""
    extend: bool
    """Whether they are extended."""
    ahead: int
    """How many batches are polled ahead."""


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault that is to come."""

    pause: float
    """Seconds after the beginning of the one before."""
    fault: str
    chance: random.Random
    """What it draws from."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One run."""

    seed: int
    database: str
    tasks: int
    """How many are pushed at least."""
    workers: int
    producers: int
    faults: tuple[str, ...] = ()
    """The kinds of faults."""
    every: tuple[float, float] = (2.0, 5.0)
    """The shortest and the longest time between two of them."""
    calm: int = 0
    """How often each kind strikes once more in the end, with time enough in between to see the throughput recover."""
    rate: float = 0.0
    """How many tasks a second come in that calm, as from customers who do not wait; as many as can be done if zero."""
    topics: tuple[Topic, ...] = TOPICS
    batch: tuple[int, int] = (100, 500)
    """How many tasks are pushed, or polled, at once."""
    backlog: int = 20_000
    """How many tasks may be undecided before producers wait."""
    lease: float = 3.0
    heartbeat: float = 0.5
    expiry: float = 3.0
    pause: float = 0.2
    """How long a poll waits that found nothing."""
    patience: float = 60.0
    """Seconds within which all must be decided once the producers have ended."""
    settling: float = 10.0
    """Seconds within which sessions and locks must be gone once there is nothing to do."""
    pooled: bool = False
    """Whether a pooler gives each transaction another session."""
    sabotage: str | None = None
    """What is broken on purpose."""

    def dump(self) -> str:
        """As text."""
        return json.dumps(asdict(self))

    @staticmethod
    def load(text: str) -> Plan:
        """From text."""
        fields = json.loads(text)
        topics = tuple(
            Topic(
                **{**topic, **{name: tuple(topic[name]) for name in ("claims", "modes")}, "mix": _pairs(topic["mix"])}
            )
            for topic in fields["topics"]
        )
        lists = {name: tuple(fields[name]) for name in ("faults", "every", "batch")}
        return Plan(**{**fields, **lists, "topics": topics})

    def chance(self, *about: object) -> random.Random:
        """A source of numbers for something, the same for the same seed."""
        return random.Random("/".join(map(str, (self.seed, *about))))  # noqa: S311 - to be repeated, not kept secret

    def duties(self, worker: int) -> list[Duty]:
        """What a worker works on; every topic has several workers."""
        return [duty for topic in self.topics if (duty := self._duties(topic).get(worker))]

    def strikes(self) -> Iterator[Strike]:
        """The schedule of faults: each kind once, in any order, then again."""
        chance = self.chance("strikes")
        number = 0
        while self.faults:
            for fault in chance.sample(sorted(self.faults), len(self.faults)):
                yield Strike(chance.uniform(*self.every), fault, self.chance("strike", number))
                number += 1

    def calm_strikes(self) -> Iterator[Strike]:
        """The faults after which the throughput is judged; their pauses begin at the end of the one before."""
        for number in range(self.calm):
            chance = self.chance("calm", number)
            for fault in chance.sample(sorted(self.faults), len(self.faults)):
                yield Strike(self.quiet, fault, self.chance("calm", number, fault))

    @property
    def quiet(self) -> float:
        """Seconds that it takes to recover and to see so, twice."""
        return 2 * (self.lease + 5.0) + 2.0

    def _duties(self, topic: Topic) -> dict[int, Duty]:
        chance = self.chance("duties", topic.name)
        number = min(self.workers, max(2, self.workers // 2))
        low, high = self.batch
        return {
            worker: Duty(
                topic,
                claim=chance.choice(topic.claims),
                size=max(1, chance.randint(low, high) // (10 if topic.single else 1)),
                lease=self.lease if topic.short else chance.choice([self.lease, self.lease, None]),
                extend=chance.random() < 0.7 and not topic.short,
                ahead=self.chance("ahead", topic.name, worker).choice([0, 0, 1, 2]),
            )
            for worker in sorted(chance.sample(range(self.workers), number))
        }


def _pairs(pairs: Sequence[Sequence[object]]) -> tuple[tuple[str, float], ...]:
    return tuple((str(what), float(str(weight))) for what, weight in pairs)
