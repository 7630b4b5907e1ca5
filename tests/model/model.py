"""
One database of topiq as plain Python: what DESIGN.md and BEHAVIOURS.md say, written as simply as possible.

There is one caller at a time and no clock: a due time, or the end of a lease, is in the FUTURE or the PAST.
Every call changes the rows, or raises and changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from task_api import (
    INCEPTION,
    MAX_SEQUENCE,
    REVIVABLE,
    Claim,
    Condition,
    Counting,
    Insertion,
    Junction,
    LostTaskError,
    Order,
    Revivification,
    Snapshot,
    Summary,
    Task,
    TaskCreation,
    TaskDecision,
    TaskResult,
    TaskState,
    TaskStateError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

FUTURE, PAST = "future", "past"
Bounds = tuple[int, int]
EVERYTHING: Bounds = INCEPTION, MAX_SEQUENCE
ACTIVE, READY, EXPIRED, FAILED, SUSPENDED, _, SUCCEEDED, RECREATED, REDUNDANT = TaskState

OBSOLETE = {
    Insertion.APPEND: set[TaskState](),
    Insertion.SUPERSEDE: {READY},
    Insertion.REPLACE: {READY, *REVIVABLE},
    Insertion.DELETE: set(TaskState) - {ACTIVE},
}
"""Which older tasks of its identifier a push makes redundant, or deletes (IN-01)."""

BLOCKING = {
    Condition.NONE: set[TaskState](),
    Condition.SINGULAR_BY_IDENTIFIER: {ACTIVE},
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE: {ACTIVE, EXPIRED, FAILED},
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS: {ACTIVE, EXPIRED, FAILED, SUSPENDED},
}
"""Which siblings keep a task from being polled, at any sequence (PO-08 to PO-12, PO-B2, PO-B3)."""


@dataclass
class Row:
    """One stored task."""

    topic: str
    sequence: int
    identifier: str
    state: TaskState
    input: str | None = None
    reference: str | None = None
    due: str | None = None
    descent: TaskState = READY
    owner: str | None = None
    attempt: int = 0
    token: int = 0
    lease: str | None = None
    origin: int | None = None
    completed: bool = False
    output: bool = False

    def within(self, bounds: Bounds) -> bool:
        """Whether its sequence lies between these."""
        return bounds[0] <= self.sequence <= bounds[1]

    def leave(self, state: TaskState, **changes: object) -> None:
        """Go to a state and remember the highest one that was left."""
        self.descent = max(self.descent, self.state)
        self.state = state
        for name, value in changes.items():
            setattr(self, name, value)


def tense(due: datetime | timedelta | None) -> str | None:
    """Whether a time from now has come."""
    if due is None:
        return None
    assert isinstance(due, timedelta)
    return FUTURE if due > timedelta(0) else PAST


@dataclass
class Model:
    """The whole database; what is claimed in a transaction is forgotten at its end."""

    topics: Collection[str]
    beating: dict[str, bool]
    """Whether the heartbeat of each registered owner is fresh."""
    rows: list[Row] = field(default_factory=list)
    """In the order of their sequences."""
    activation: dict[str, bool] = field(default_factory=dict)
    """Whether topics are to be processed, where somebody has said so."""
    claimed: dict[int, str] = field(default_factory=dict)
    """The owners of the tasks that are claimed by the transaction alone."""
    last: int = 0

    def copy(self) -> Model:
        """A copy to return to when the transaction rolls back."""
        return replace(
            self,
            beating=dict(self.beating),
            activation=dict(self.activation),
            rows=[replace(row) for row in self.rows],
            claimed={},
        )

    def of(self, topic: str, *states: TaskState) -> list[Row]:
        """The topic's tasks in these states, or in all."""
        return [row for row in self.rows if row.topic == topic and (not states or row.state in states)]

    def siblings(self, row: Row) -> list[Row]:
        """All tasks of the same topic and identifier, this one included."""
        return [other for other in self.of(row.topic) if other.identifier == row.identifier]

    # Pushing

    def push(self, topic: str, creations: Sequence[TaskCreation], insertion: Insertion) -> list[Task]:
        """Push creations; the last one of each identifier survives unless they are appended."""
        if insertion is Insertion.UNIQUE:
            return [self._push_missing(topic, new) for new in creations]
        final = {creation.identifier: index for index, creation in enumerate(creations)}
        pushed = []
        for index, new in enumerate(creations):
            state = SUSPENDED if new.suspended or new.due is not None else READY
            if insertion is not Insertion.APPEND and final[new.identifier] != index:
                state = REDUNDANT
            if insertion is Insertion.DELETE and state is REDUNDANT:
                continue
            self.last += 1
            row = Row(topic, self.last, new.identifier, state, new.input, new.reference, tense(new.due))
            pushed.append(row)
        for row in self.of(topic):
            if row.identifier in final and row.state in OBSOLETE[insertion]:
                row.leave(REDUNDANT)
                if insertion is Insertion.DELETE:
                    self.rows.remove(row)
        self.rows += pushed
        return [Task(row.sequence, row.identifier, row.input) for row in pushed]

    def _push_missing(self, topic: str, new: TaskCreation) -> Task:
        present = [row for row in self.of(topic) if row.identifier == new.identifier and row.state < RECREATED]
        if not present:
            return self.push(topic, [new], Insertion.APPEND)[0]
        row = present[-1]
        return Task(row.sequence, row.identifier, row.input, row.attempt, row.token)

    def push_one(self, topic: str, identifier: str) -> Task:
        """Push one task."""
        return self.push(topic, [TaskCreation(identifier)], Insertion.APPEND)[0]

    # Polling and deciding

    def poll(
        self,
        owner: str,
        topic: str,
        size: int,
        *,
        order: Order,
        condition: Condition,
        claim: Claim,
        lease: str | None,
    ) -> list[Task]:
        """Claim the first or last tasks that nothing blocks."""
        step = 1 if order is Order.FIRST_IN_FIRST_OUT else -1
        ready = [row for row in self.of(topic, READY)[::step] if row.sequence not in self.claimed]
        return self._claim(
            owner, [row for row in ready if not self._blocked(row, ready, condition)][:size], claim, lease
        )

    def poll_one(self, owner: str, topic: str) -> Task | None:
        """Claim the first task."""
        ready = [row for row in self.of(topic, READY) if row.sequence not in self.claimed]
        return next(iter(self._claim(owner, ready[:1], Claim.COMMITTED, None)), None)

    def poll_between(
        self, owner: str, topic: str, low: str | None, high: str | None, *, claim: Claim, lease: str | None
    ) -> Task | None:
        """Claim the task of the lowest identifier in a range."""
        ready = [
            row for row in self.between(topic, low, high) if row.state is READY and row.sequence not in self.claimed
        ]
        return next(iter(self._claim(owner, ready[:1], claim, lease)), None)

    def between(self, topic: str, low: str | None, high: str | None) -> list[Row]:
        """The tasks of a range of identifiers, in the order of these."""
        rows = [
            row
            for row in self.of(topic)
            if (low is None or row.identifier >= low) and (high is None or row.identifier < high)
        ]
        return sorted(rows, key=lambda row: (row.identifier, row.sequence))

    def _claim(self, owner: str, polled: list[Row], claim: Claim, lease: str | None) -> list[Task]:
        for row in polled if claim is Claim.COMMITTED else ():
            row.state, row.owner, row.lease = ACTIVE, owner, lease
            row.attempt, row.token = row.attempt + 1, row.token + 1
        if claim is Claim.COMMITTED:
            return [Task(row.sequence, row.identifier, row.input, row.attempt, row.token) for row in polled]
        self.claimed |= {row.sequence: owner for row in polled}
        return [Task(row.sequence, row.identifier, row.input, row.attempt + 1, row.token + 1, claim) for row in polled]

    def _blocked(self, row: Row, ready: list[Row], condition: Condition) -> bool:
        if condition is Condition.NONE:
            return False
        first = next(other for other in ready if other.identifier == row.identifier)
        return first is not row or any(
            other.state in BLOCKING[condition] or other.sequence in self.claimed for other in self.siblings(row)
        )

    def complete(self, owner: str, topic: str, decisions: Mapping[Task, TaskDecision]) -> None:
        """Decide held tasks."""
        held = self._held(owner, topic, decisions)
        for row, decision in zip(held, decisions.values(), strict=True):
            if row.sequence in self.claimed:
                row.owner, row.attempt, row.token = owner, row.attempt + 1, row.token + 1
                del self.claimed[row.sequence]
            row.state, row.completed, row.output = decision.state, True, decision.output is not None
            row.due, row.lease = tense(decision.due), None

    def complete_one(self, owner: str, topic: str, task: Task) -> None:
        """Decide one held task."""
        self.complete(owner, topic, {task: TaskDecision.SUCCESS})

    def release(self, owner: str, topic: str, tasks: Collection[Task]) -> None:
        """Give tasks back."""
        for row in self._held(owner, topic, tasks):
            row.state, row.attempt, row.lease = READY, row.attempt - 1, None

    def extend(self, owner: str, topic: str, tasks: Collection[Task]) -> None:
        """Move the end of claims to the future."""
        for row in self._held(owner, topic, tasks):
            row.lease = FUTURE

    def checkpoint(self, owner: str, topic: str, task: Task, text: str | None) -> None:
        """Replace the input."""
        for row in self._held(owner, topic, [task]):
            row.input = text

    def _held(self, owner: str, topic: str, tasks: Collection[Task]) -> list[Row]:
        """The rows of tasks that are all held, by owner and token."""

        def holds(row: Row, task: Task) -> bool:
            if task.claim is Claim.TRANSACTION:
                return self.claimed.get(row.sequence) == owner and row.token + 1 == task.token
            return (row.state, row.owner, row.token) == (ACTIVE, owner, task.token)

        return self._rows(topic, tasks, holds, LostTaskError)

    def _rows(
        self,
        topic: str,
        tasks: Collection[Task],
        allowed: Callable[[Row, Task], bool],
        error: type[LostTaskError | TaskStateError],
    ) -> list[Row]:
        rows = {row.sequence: row for row in self.of(topic)}
        refused = [task for task in tasks if task.sequence not in rows or not allowed(rows[task.sequence], task)]
        if refused:
            raise error(topic, refused)
        return [rows[task.sequence] for task in tasks]

    def eject(
        self, owner: str, topic: str, task: Task, states: Collection[TaskState] = (ACTIVE,), lease: str | None = None
    ) -> Task:
        """Take a task over, which counts as an attempt unless it was tried already."""
        [row] = self._rows(topic, [task], lambda row, _: row.state in states, TaskStateError)
        row.attempt += row.state is not ACTIVE
        row.leave(ACTIVE, owner=owner, token=row.token + 1, lease=lease)
        return Task(row.sequence, row.identifier, row.input, row.attempt, row.token)

    # Time

    def expire(self, owner: str) -> int:
        """Expire what dead owners hold and what was held too long."""
        expired = [
            row
            for row in self.rows
            if row.state is ACTIVE
            and (row.lease == PAST or (row.owner != owner and not self.beating.get(row.owner or "")))
        ]
        for row in expired:
            row.state = EXPIRED
        return len(expired)

    def promote(self, topic: str) -> int:
        """Make tasks READY whose time has come."""
        due = [row for row in self.of(topic, SUSPENDED) if row.due == PAST]
        for row in due:
            row.state = READY
        return len(due)

    # Reviving, reassigning, joining

    def recreate(self, topic: str, revivification: Revivification, tasks: Collection[Task]) -> dict[Task, Task]:
        """Revive named tasks."""
        return self._revive(topic, revivification, self._revivable(topic, tasks))

    def recreate_state(
        self, topic: str, revivification: Revivification, state: TaskState, size: int, bounds: Bounds = EVERYTHING
    ) -> dict[Task, Task]:
        """Revive the first tasks in a state."""
        return self._revive(topic, revivification, [row for row in self.of(topic, state) if row.within(bounds)][:size])

    def _revivable(self, topic: str, tasks: Collection[Task]) -> list[Row]:
        return self._rows(topic, tasks, lambda row, _: row.state in REVIVABLE, TaskStateError)

    def _revive(self, topic: str, revivification: Revivification, rows: list[Row]) -> dict[Task, Task]:
        old = [Task(row.sequence, row.identifier, row.input, row.attempt, row.token) for row in rows]
        if revivification is Revivification.RESET:
            for row in rows:
                row.leave(READY, completed=False, output=False, lease=None, due=None)
            return dict(zip(old, old, strict=True))
        for row in rows:
            row.leave(RECREATED)
        creations = [TaskCreation(row.identifier, row.input, row.reference) for row in rows]
        new = self.push(topic, creations, Insertion[revivification.name])
        for row, origin in zip(self.rows[len(self.rows) - len(new) :], old, strict=True):
            row.origin = origin.sequence
        return dict(zip(old, new, strict=True))

    def reassign(self, topic: str, results: Mapping[Task, TaskResult]) -> None:
        """Give named tasks another result."""
        for row, result in zip(self._revivable(topic, results), results.values(), strict=True):
            self._reassign(row, result)

    def reassign_all(self, topic: str, state: TaskState, result: TaskResult, bounds: Bounds = EVERYTHING) -> int:
        """Give all tasks in a state another result."""
        rows = [row for row in self.of(topic, state) if row.within(bounds) and state is not result.state]
        for row in rows:
            self._reassign(row, result)
        return len(rows)

    def _reassign(self, row: Row, result: TaskResult) -> None:
        row.leave(result.state, completed=True, due=row.due if row.state is result.state else None)

    def junction(self, topic: str, groups: Iterable[Collection[str]], junction: Junction) -> set[str]:
        """Make the SUSPENDED tasks of complete groups READY."""
        states = {SUSPENDED} if junction is Junction.SINGULAR else set(TaskState) - {REDUNDANT}
        present = {row.identifier for row in self.of(topic, *states)}
        complete = {identifier for group in groups if present.issuperset(group) for identifier in group}
        released = [row for row in self.of(topic, SUSPENDED) if row.identifier in complete]
        for row in released:
            row.state, row.due = READY, None
        return {row.identifier for row in released}

    # Deleting and counting

    def purge(self, topic: str, states: Collection[TaskState], bounds: Bounds = EVERYTHING) -> int:
        """Delete tasks."""
        purged = [row for row in self.of(topic) if row.state in states and row.within(bounds)]
        self.rows = [row for row in self.rows if row not in purged]
        return len(purged)

    def purge_all(self, topic: str) -> None:
        """Delete every task of a topic."""
        self.rows = [row for row in self.rows if row.topic != topic]

    def purge_owners(self, owner: str) -> int:
        """Forget dead owners that no task names."""
        names = {row.owner for row in self.rows} | {owner}
        purged = [name for name, beats in self.beating.items() if not beats and name not in names]
        for name in purged:
            del self.beating[name]
        return len(purged)

    def count(self, snapshot: Snapshot, counting: Counting) -> dict[str, dict[TaskState, Summary]]:
        """Count tasks by topic and state."""
        counted: dict[str, dict[TaskState, Summary]] = {}
        for topic in self.topics if counting.topic is None else [counting.topic]:
            rows = [
                row
                for row in self.of(topic)
                if counting.identifier in {None, row.identifier} and counting.reference in {None, row.reference}
            ]
            if snapshot is Snapshot.RECENT:
                rows = list({row.identifier: row for row in rows}.values())
            by_state = defaultdict(list)
            for row in rows:
                by_state[row.state].append(row.sequence)
            counted[topic] = {
                state: Summary(len(sequences), max(sequences))
                for state, sequences in by_state.items()
                if counting.state in {None, state}
            }
        return counted

    def results(self, *, dated: bool) -> dict[str, dict[TaskResult, int]]:
        """Count results by topic, all or those with a completion time."""
        counted: dict[str, dict[TaskResult, int]] = {topic: {} for topic in self.topics}
        for row in self.rows:
            for result in TaskResult:
                if row.state is result.state and (row.completed or not dated):
                    counted[row.topic][result] = counted[row.topic].get(result, 0) + 1
        return counted
