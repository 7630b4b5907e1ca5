"""Why nothing of a topic is running: what is found, in the order in which one would ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from task_api import TaskState

from . import queries
from .moments import ago, shown
from .sample import owners_of
from .words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from .database import Database
    from .sample import OwnerSample

__all__ = ["LATELY", "Diagnosis", "Finding", "diagnose"]

LATELY = timedelta(seconds=10)
"""In which time decisions tell that a topic is running."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found."""

    kind: str
    """What it is, in a word for scripts."""
    message: str
    """What it is, in a sentence."""
    advice: str | None = None
    """What to do about it."""
    blocking: bool = field(default=True, kw_only=True)
    """Whether it keeps tasks from running, not merely something to know."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found about a topic."""

    topic: str
    counts: dict[TaskState, int]
    """How many tasks are READY, ACTIVE, SUSPENDED, EXPIRED and FAILED."""
    decided: int
    """How many were decided lately."""
    findings: list[Finding]
    """Those that keep tasks from running first."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known when the questions are asked."""

    topic: str
    moment: datetime
    timeout: timedelta
    activation: bool | None
    depths: dict[TaskState, queries.Depth]
    decided: int
    owners: Sequence[OwnerSample]
    ready: Sequence[queries.Waiting]
    """The first READY tasks."""
    suspended: queries.Suspended
    ended_leases: int
    pins: Sequence[queries.Pin]

    def count(self, state: TaskState) -> int:
        depth = self.depths.get(state)
        return 0 if depth is None else depth.count


def diagnose(tx: Connection, database: Database, topic: str, timeout: timedelta) -> Diagnosis:
    """Look at a topic that is initialized; an owner silent for ``timeout`` counts as dead."""
    moment = queries.now(tx)
    rate = queries.rates(tx, moment - LATELY, [topic]).get(topic, queries.Rate(0, 0))
    facts = _Facts(
        topic,
        moment,
        timeout,
        database.repository.activation(tx, topic),
        {depth.state: depth for depth in queries.depths(tx, [topic])},
        rate.decided,
        owners_of(tx, timeout, [topic]),
        queries.waiting(tx, topic),
        queries.suspended(tx, topic, moment),
        queries.ended_leases(tx, topic, moment),
        queries.pins(tx, timeout),
    )
    found = [finding for ask in _QUESTIONS for finding in ask(facts)]
    if not any(finding.blocking for finding in found):
        found += _nothing_found(facts)
    found.sort(key=lambda finding: not finding.blocking)
    states = (TaskState.READY, TaskState.ACTIVE, TaskState.SUSPENDED, TaskState.EXPIRED, TaskState.FAILED)
    return Diagnosis(topic, {state: facts.count(state) for state in states}, rate.decided, found)


def _paused(facts: _Facts) -> Iterator[Finding]:
    if facts.activation is False:
        advice = f"topiq resume {facts.topic}"
        yield Finding("paused", "The topic is paused: workers that heed it leave it alone.", advice)


def _nobody(facts: _Facts) -> Iterator[Finding]:
    if any(owner.alive for owner in facts.owners):
        return
    beats = [owner for owner in facts.owners if owner.silent is not None]
    last = min(beats, key=lambda owner: owner.silent or timedelta(), default=None)
    if last is None or last.silent is None:
        known = "nobody has registered yet"
    else:
        known = f"the last heartbeat, of {last.owner}, was {ago(last.silent)} ago"
    message = f"No owner is alive: {known}."
    yield Finding("no-owner-alive", message, "start a worker, for example topiq work module:worker")


def _nothing_ready(facts: _Facts) -> Iterator[Finding]:
    if not facts.count(TaskState.READY):
        yield Finding("nothing-ready", "Nothing is READY.")


def _due(facts: _Facts) -> Iterator[Finding]:
    suspended = facts.suspended
    if suspended.overdue and suspended.first is not None:
        message = (
            f"{_tasks(suspended.overdue)} SUSPENDED and due since {shown(suspended.first)} UTC,"
            f" but nobody has made {_them(suspended.overdue)} READY: workers that are alive do so every few moments."
        )
        yield Finding("overdue", message, "start a worker for this topic")
    if suspended.waiting:
        first = "" if suspended.overdue or suspended.first is None else f", the first at {shown(suspended.first)} UTC"
        if first and suspended.first is not None:
            first += f", in {ago(suspended.first - facts.moment)}"
        message = f"{_tasks(suspended.waiting)} SUSPENDED and not due yet{first}."
        yield Finding("waiting-for-due", message, blocking=not facts.count(TaskState.READY))
    if suspended.endless:
        message = (
            f"{_tasks(suspended.endless)} SUSPENDED without a due time,"
            f" until a junction, the end of other tasks or you release {_them(suspended.endless)}."
        )
        advice = f"topiq revive {facts.topic} --state SUSPENDED"
        yield Finding("suspended", message, advice, blocking=not facts.count(TaskState.READY))


def _blocked(facts: _Facts) -> Iterator[Finding]:
    """Tell which READY tasks the conditions of a poll leave alone because of their siblings."""
    for kind, attribute, states, condition in (
        ("blocked-by-active", "active", "an ACTIVE task", "any SINGULAR condition"),
        ("blocked-by-failure", "failed", "an EXPIRED or FAILED task", "SUSPEND_ON_FAILURE or SUSPEND_UNTIL_SUCCESS"),
        ("blocked-by-suspended", "suspended", "a SUSPENDED task", "SUSPEND_UNTIL_SUCCESS"),
    ):
        blocked = [one for one in facts.ready if getattr(one, attribute) is not None]
        if not blocked:
            continue
        everything = len(blocked) == len(facts.ready)
        example = blocked[0]
        message = (
            f"{_share(len(blocked), len(facts.ready))} identifier with {states}, as"
            f" {example.sequence} ({example.identifier}) does with {getattr(example, attribute)}."
            f" Workers that poll with {condition} leave them."
        )
        advice = f"topiq show {facts.topic} {getattr(example, attribute)}"
        yield Finding(kind, message, advice, blocking=everything)


def _held(facts: _Facts) -> Iterator[Finding]:
    for owner in facts.owners:
        if not owner.active:
            continue
        since = "" if owner.longest is None else f", the longest for {ago(owner.longest)}"
        if owner.alive:
            message = f"{owner.owner} holds {counted(owner.active, 'task')}{since}, and is alive."
            yield Finding("held", message, f"topiq list {facts.topic} --state ACTIVE", blocking=False)
            continue
        silence = "not registered" if owner.silent is None else f"silent for {ago(owner.silent)}"
        message = f"{owner.owner} holds {counted(owner.active, 'task')}{since}, and is dead: {silence}."
        advice = f"topiq release {facts.topic} --owner '{owner.owner}'"
        yield Finding("held-by-dead-owner", message, advice)
    if facts.ended_leases:
        number = facts.ended_leases
        message = f"{_tasks(number)} ACTIVE although the lease has ended, and nobody has expired {_them(number)}."
        yield Finding("lease-ended", message, "topiq expire")


def _left(facts: _Facts) -> Iterator[Finding]:
    if expired := facts.count(TaskState.EXPIRED):
        message = f"{_tasks(expired)} EXPIRED and {'has' if expired == 1 else 'have'} to be revived."
        nothing = not facts.count(TaskState.READY)
        yield Finding("expired", message, f"topiq revive {facts.topic} --state EXPIRED", blocking=nothing)
    if failed := facts.count(TaskState.FAILED):
        message = f"{_tasks(failed)} FAILED."
        yield Finding("failed", message, f"topiq list {facts.topic} --state FAILED --backward", blocking=False)


def _pinned(facts: _Facts) -> Iterator[Finding]:
    for pin in facts.pins:
        since = "" if pin.seconds is None else f" for {ago(timedelta(seconds=pin.seconds))}"
        message = (
            f"{pin.what} has kept old row versions from being removed{since}, {counted(pin.age, 'transaction')} long"
            f" ({pin.detail}): polls get slower and slower."
        )
        yield Finding(
            "pinned",
            message[0].upper() + message[1:],
            "end it, for example with pg_terminate_backend",
            blocking=False,
        )


def _nothing_found(facts: _Facts) -> Iterator[Finding]:
    if facts.decided:
        message = (
            f"It is running: {counted(facts.decided, 'task was', 'tasks were')} decided in the last {ago(LATELY)}."
        )
        yield Finding("running", message, blocking=False)
        return
    alive = ", ".join(owner.owner for owner in facts.owners if owner.alive)
    message = (
        f"Tasks are READY and these owners are alive: {alive}. They may not work on this topic, be at their limit,"
        " or have ended a moment ago."
    )
    advice = "look at their logs, and with topiq owners when they beat last"
    yield Finding("unexplained", message, advice, blocking=False)
    if facts.activation is None:
        message = "Nobody has said that the topic is to be worked on; a PersistentTaskProcessor waits for that."
        yield Finding("not-activated", message, f"topiq resume {facts.topic}", blocking=False)


_QUESTIONS = (_paused, _nobody, _nothing_ready, _due, _blocked, _held, _left, _pinned)


def _tasks(number: int) -> str:
    return counted(number, "task is", "tasks are")


def _them(number: int) -> str:
    return "it" if number == 1 else "them"


def _share(number: int, total: int) -> str:
    """Return how many of the READY tasks are meant, up to their."""
    if total == 1:
        return "The one READY task shares its"
    share = "All" if number == total else f"{number} of the"
    return f"{share} {total} READY tasks looked at {'shares its' if number == 1 else 'share their'}"
