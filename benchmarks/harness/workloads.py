"""What a system is put through. Each workload begins with a new database and gives some metrics."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from .catalogue import Skill
from .subject import Drained, Subject

__all__ = ["WORKLOADS", "Workload"]

_PAGES: Final = 50
_LONG: Final = 3600.0


@dataclass(frozen=True)
class Measured:
    """One measurement."""

    metric: str
    value: float
    details: dict[str, Any]
    """What else is known about it."""


@dataclass(frozen=True)
class Workload:
    """Something to do, and who can."""

    name: str
    skill: Skill
    measure: Callable[[Subject], Iterator[Measured]]
    compared: bool = False
    """Whether the floor is measured between the others, as it is short and its ratio to that matters."""


def _rate(metric: str, done: dict[str, float]) -> Measured:
    return Measured(metric, done["number"] / done["seconds"], done)


def _drained(metric: str, drained: Drained, number: int, *, others: int = 0) -> Measured:
    """The rate of a drain; beside the tasks that were given, there may be others that nobody can take."""
    details = {"number": drained.number, "seconds": drained.seconds, "given": number, "left": drained.left}
    if drained.left is not None:
        details["unaccounted"] = number + others - drained.number - drained.left
    return Measured(metric, drained.rate, details)


def _push(subject: Subject) -> Iterator[Measured]:
    subject.fresh()
    with subject.agent() as agent:
        yield _rate("push", agent.call("push_one", number=subject.scale.push, limit=subject.scale.limit))


def _bulk(subject: Subject) -> Iterator[Measured]:
    scale = subject.scale
    subject.fresh()
    with subject.agent() as agent:
        done = agent.call("push_bulk", number=scale.bulk, size=scale.chunk, limit=scale.limit)
    yield _rate("bulk", done)


def _drain(subject: Subject) -> Iterator[Measured]:
    drained, number = _plain_drain(subject, 1)
    yield _drained("drain x1", drained, number)
    for metric, spent, unit in (
        ("cost wal", drained.wal, 1),
        ("cost server", drained.server, 1e6),
        ("cost client", drained.client, 1e6),
    ):
        if spent is not None:
            yield Measured(metric, spent * unit / drained.number, {"number": drained.number})


def _workers(subject: Subject) -> Iterator[Measured]:
    for workers in subject.scale.workers:
        if workers > 1:
            drained, number = _plain_drain(subject, workers)
            yield _drained(f"drain x{workers}", drained, number)


def _plain_drain(subject: Subject, workers: int) -> tuple[Drained, int]:
    subject.fresh()
    number = subject.fill(subject.number)
    subject.tidy()
    return subject.drain(number, workers), number


def _batches(subject: Subject) -> Iterator[Measured]:
    for batch in subject.scale.batches:
        subject.fresh()
        # A drain by ones takes a hundred times as long.
        number = subject.fill(min(subject.number, 2000 * batch))
        subject.tidy()
        yield _drained(f"drain by {batch}", subject.drain(number, batch=batch), number)


def _latency(subject: Subject) -> Iterator[Measured]:
    scale = subject.scale
    subject.fresh()
    with subject.workers(1, latency=True) as workers, subject.agent() as producer:
        producer.call("push_one", number=1, limit=scale.limit)
        subject.progress(workers, 1, scale.limit)  # it is awake, and may fall asleep
        producer.call("push_one", number=scale.latency, limit=_LONG, gap=scale.gap)
        [result] = subject.finish(workers, scale.latency + 1, scale.limit)
    ages = sorted(1000 * age for age in result["ages"][1:])
    if not ages:
        return
    details = {"number": len(ages), "given": scale.latency}
    yield Measured("latency p50", ages[len(ages) // 2], details)
    yield Measured("latency p95", ages[int(len(ages) * 0.95)], details)


def _churn(subject: Subject) -> Iterator[Measured]:
    for batch in subject.scale.churn_batches:
        for held in (False, True):
            subject.fresh()
            with subject.snapshot(held=held):
                before = subject.fill(subject.scale.churn, limit=_LONG)
                subject.drain(before, limit=_LONG)
                number = subject.fill(subject.number)
                subject.tidy()
                drained = subject.drain(number, batch=batch)
            yield _drained(f"churn by {batch}{' held' * held}", drained, number)


def _history(subject: Subject) -> Iterator[Measured]:
    for finished in subject.scale.history:
        subject.prepare(finished)
        drained, number = _plain_drain(subject, 1)
        yield _drained(f"beside history {finished}", drained, number)
        subject.prepared(finished)
        number = subject.fill(subject.number)
        subject.tidy()
        yield _drained(f"history {finished}", subject.drain(number), number)
        if Skill.LISTING in subject.system.skills:
            yield from _listing(subject, finished)


def _listing(subject: Subject, finished: int) -> Iterator[Measured]:
    with subject.agent() as agent:
        counted = agent.call("count", timeout=_LONG)
        yield Measured(f"count {finished}", 1000 * counted["seconds"], counted)
        paged = agent.call("page", pages=_PAGES, timeout=_LONG)
        yield Measured(f"page {finished}", 1000 * paged["seconds"] / _PAGES, paged)
        purged = agent.call("purge", timeout=_LONG)
        yield Measured(f"purge {finished}", purged["value"] / purged["seconds"], purged)


def _singular(subject: Subject) -> Iterator[Measured]:
    scale = subject.scale
    drained, number = _plain_drain(subject, 1)
    yield _drained("beside singular", drained, number)
    number = subject.number
    for metric, blocked in (("singular", 0), ("blocked", scale.blocked)):
        subject.fresh()
        with subject.agent() as agent:
            if blocked:
                agent.call("block", number=blocked)
            agent.call("push_hot", number=number, identifiers=scale.hot)
        subject.tidy()
        yield _drained(metric, subject.drain(number, singular=True), number, others=blocked)


def _replace(subject: Subject) -> Iterator[Measured]:
    known = subject.scale.known
    for insertion in ("SUPERSEDE", "REPLACE"):
        subject.fresh()
        with subject.agent() as agent:
            agent.call("push_known", number=known, insertion="APPEND")
        subject.tidy()
        with subject.agent() as agent:
            done = agent.call("push_known", number=known, insertion=insertion)
        yield _rate(insertion.lower(), {"number": known, **done})


def _junction(subject: Subject) -> Iterator[Measured]:
    known = subject.scale.known
    subject.fresh()
    with subject.agent() as agent:
        agent.call("push_suspended", number=known)
    subject.tidy()
    with subject.agent() as agent:
        done = agent.call("join", number=known)
    yield _rate("junction", {"number": done["value"], **done})


def _topics(subject: Subject) -> Iterator[Measured]:
    topics = subject.scale.topics
    subject.fresh(topics=topics)
    number = subject.fill(max(subject.number, topics), topics=topics)
    subject.tidy()
    yield _drained("topics", subject.drain(number, topics=topics), number)


def _memory(subject: Subject) -> Iterator[Measured]:
    number = subject.scale.memory
    if not number:
        return
    subject.fresh()
    subject.fill(number, limit=_LONG)
    drained = subject.drain(number, limit=_LONG, memory=number // 10)
    with suppress(IndexError):
        yield Measured("memory", drained.sizes[-1] / drained.sizes[0], {"sizes": drained.sizes})


def _parts(subject: Subject) -> Iterator[Measured]:
    scale = subject.scale
    for kind, call, given in (
        ("push", "push_one", {"number": scale.push}),
        ("bulk", "push_bulk", {"number": scale.bulk, "size": scale.chunk}),
    ):
        subject.fresh()
        with subject.agent() as agent:
            before = subject.cost()
            done = agent.call(call, limit=scale.limit, **given)
            server = subject.spent(before)
        yield from _costs(kind, server, done["processor"], int(done["number"]))
    drained, _ = _plain_drain(subject, 1)
    yield from _costs("drain", drained.server, drained.client, drained.number)


def _costs(kind: str, server: float | None, client: float, number: int) -> Iterator[Measured]:
    for name, seconds in (("server", server), ("client", client)):
        if seconds is not None:
            yield Measured(f"parts {kind} {name}", 1e6 * seconds / number, {"number": number})


WORKLOADS: Final[tuple[Workload, ...]] = (
    Workload("push", Skill.PUSH, _push, compared=True),
    Workload("bulk", Skill.BULK, _bulk, compared=True),
    Workload("drain", Skill.DRAIN, _drain, compared=True),
    Workload("workers", Skill.WORKERS, _workers, compared=True),
    Workload("latency", Skill.LATENCY, _latency, compared=True),
    Workload("batches", Skill.BATCHES, _batches, compared=True),
    Workload("churn", Skill.CHURN, _churn),
    Workload("history", Skill.HISTORY, _history),
    Workload("singular", Skill.SINGULAR, _singular),
    Workload("replace", Skill.REPLACE, _replace),
    Workload("junction", Skill.JUNCTION, _junction),
    Workload("topics", Skill.TOPICS, _topics),
    Workload("memory", Skill.MEMORY, _memory),
    Workload("parts", Skill.PARTS, _parts, compared=True),
)
