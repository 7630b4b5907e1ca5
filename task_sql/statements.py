"""
The statements that a database supplies; the algorithms that use them are written once.

Parameters are named. A plural (``sequences``, ``identifiers``) is an array in the database's own form. Statements
that depend on a state carry its ordinal in their text, so that the planner can match it with partial indexes;
such families are functions of enum values, never of a caller's text.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from task_api import Claim, Condition, Direction, Insertion, Junction, Order, Snapshot, TaskState

__all__ = [
    "BetweenStatements",
    "ClaimStatements",
    "DependencyStatements",
    "Filter",
    "HoldStatements",
    "ListStatements",
    "OwnerStatements",
    "PushStatements",
    "ReviveStatements",
    "Statements",
    "TopicStatements",
]


@dataclass(frozen=True, slots=True)
class PushStatements:
    """Pushing, and what a push does to older tasks."""

    one: str
    """Insert a task if the topic is known: topic, identifier, input, reference, state, due, delay → sequence."""
    many: str
    """Insert tasks in order: plurals of the above. On SQLite for each row, with its sequence."""
    copy: str
    """Insert copies of tasks: topic, sequences, states → origin, sequence."""
    retire: Mapping[Insertion, str]
    """Make older tasks of the identifiers redundant or delete them: topic, identifiers → those waited for."""
    present: str
    """The last task of each identifier, REDUNDANT and RECREATED ones aside: topic, identifiers → as poll."""


@dataclass(frozen=True, slots=True)
class ClaimStatements:
    """Polling."""

    poll: Mapping[tuple[Order, Condition, Claim], str]
    """Claim tasks: topic, owner, size, lease → sequence, identifier, input, attempt, token."""
    promote: str
    """Make due tasks READY: topic."""
    next_due: str
    """The earliest due time: topic."""
    eject: Callable[[frozenset[TaskState]], str]
    """Take a task in one of the states over: topic, sequence, owner, lease → as poll."""


@dataclass(frozen=True, slots=True)
class HoldStatements:
    """
    What a holder does with its tasks, by kind of claim.

    Each is carried out for all given tasks or for none, and tells how many rows it touched. All take topic,
    owner, sequences, tokens and number, which is how many tasks are given.
    """

    complete_one: Mapping[Claim, str]
    """Decide one task: sequence, token, state, output, due, delay."""
    complete_same: Mapping[Claim, str]
    """Decide tasks alike: state, output, due, delay."""
    complete_alike: Mapping[Claim, str] | None
    """The same with tasks of one token, which is given instead of tokens; None where it makes no difference."""
    complete: Mapping[Claim, str]
    """Decide tasks, each its own way: what `Dialect.decisions` makes of them."""
    release: str
    """Make tasks READY again."""
    extend: str
    """Move the end of the lease: lease."""
    checkpoint: Mapping[Claim, str]
    """Replace the input of one task: sequence, token, input."""
    held: Mapping[Claim, str]
    """The sequences among the given ones that are held."""
    lock: Mapping[Claim, str]
    """The same, and keep them so until the transaction ends."""


@dataclass(frozen=True, slots=True)
class ReviveStatements:
    """Reviving, reassigning and junctions."""

    identifiers: str
    """The identifiers of tasks: topic, sequences → identifier."""
    chosen: Callable[[TaskState], str]
    """The tasks that `by_state` would lock, without a lock → sequence, identifier."""
    again: Callable[[TaskState], str]
    """Lock those that are still in the state: topic, sequences → as `named`."""
    named: str
    """Lock revivable tasks: topic, sequences → sequence, identifier, input, attempt, token."""
    by_state: Callable[[TaskState], str]
    """Lock tasks of a state: topic, first, last, size → as above."""
    reset: str
    """Make locked tasks READY: topic, sequences."""
    retire: str
    """Make locked tasks RECREATED: topic, sequences."""
    reassign: Callable[[TaskState], str]
    """Give locked tasks another state: topic, sequences, message."""
    reassign_all: Callable[[TaskState, TaskState, bool], str]
    """Give all tasks of a state another one, skipping locked ones or not: topic, first, last, message."""
    junction: Mapping[Junction, str]
    """Release complete groups: topic, groups, identifiers → identifier."""


@dataclass(frozen=True, slots=True)
class OwnerStatements:
    """Owners and what their silence means."""

    register: str
    """Insert an owner unless it is present: owner."""
    heartbeat: str
    """Renew the heartbeat: owner."""
    registered: str
    """Whether an owner is present: owner."""
    alive: str
    """Other owners younger than a timeout: owner, timeout → owner."""
    expire: str
    """Expire tasks of dead owners and ended leases: owner, timeout."""
    purge: str
    """Forget dead owners that no task names: owner, timeout."""


@dataclass(frozen=True, slots=True)
class TopicStatements:
    """Topics, their activation, and what is done to all their tasks."""

    initialize: str
    """Make a topic known: topic → whether it is new."""
    exclude: str | None
    """Wait for those who have pushed to a topic, and let no other push: topic. None where nothing is to be done."""
    forget: str
    """Forget a topic: topic."""
    deactivate: str
    """Forget a topic's activation: topic."""
    known: str
    """Whether a topic is known: topic."""
    all: str
    """All topics → topic."""
    activation: str
    """The stored activation: topic → active."""
    activate: str
    """Store an activation: topic, active."""
    purge: Callable[[frozenset[TaskState]], str]
    """Delete tasks in some states: topic, first, last."""
    clear: str
    """Delete all tasks of a topic: topic."""
    refresh: str | None
    """Renew statistics; None where that is not to be done in a transaction."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which filters a list or count has; their values are parameters, the state is text."""

    topic: bool = False
    state: TaskState | None = None
    reference: bool = False
    identifier: bool = False


@dataclass(frozen=True, slots=True)
class ListStatements:
    """Lists and counts."""

    task: str
    """One task: topic, sequence → all columns."""
    page: Callable[[Direction, Filter], str]
    """A page: topic, start, size, reference, identifier → all columns."""
    count: Callable[[Snapshot, Filter], str]
    """Counts: topic, first, last, reference, identifier → topic, state, count, bound."""
    results: str
    """Results: since, until → topic, state, count."""
    resolve: Mapping[tuple[bool, bool], str]
    """A moment's sequence, by whether it precedes and whether the moment itself counts: moment → sequence."""


@dataclass(frozen=True, slots=True)
class BetweenStatements:
    """Tasks by a range of identifiers, the low bound included, the high one not."""

    poll: Mapping[Claim, str]
    """Claim the READY task of the lowest identifier: topic, owner, size, which is 1, lease, low, high → as poll."""
    all: str
    """The tasks in the order of their identifiers: topic, low, high → all columns."""
    lock: str
    """The same, without those that others have locked, and keep them so until the transaction ends."""


@dataclass(frozen=True, slots=True)
class DependencyStatements:
    """Tasks that wait for others: ``sequences`` wait for ``afters``."""

    lock: str
    """Lock tasks: topic, sequences → sequence, identifier, state, waits, on_abort, whether it has a due time."""
    seal: str | None
    """The same, and wait for those who let others wait for the tasks; None where lock does."""
    tie: str
    """Note how tasks depend, and suspend READY ones that wait: topic, sequences, waits, on_abort, awaited."""
    link: str
    """Let tasks wait for others: topic, after_topic, sequences, afters."""
    awaited: str
    """Which tasks are waited for, or were before they failed: sequences → sequence."""
    waiting: str
    """Who waits for tasks, or waited in vain: sequences → topic, sequence, after, signal."""
    downstream: str | None
    """Likewise who waits for those, and so on; None where it is to be asked step by step: sequences → as waiting."""
    signal: str
    """Signal to tasks that others are done, failed or open again: sequences, afters, signal."""
    release: str
    """Make tasks READY that wait no more: topic, sequences."""
    cascade: str
    """Fail SUSPENDED tasks: topic, sequences, message."""
    settled: str
    """Tasks that are waited for though decided or gone: topic, first, last → sequence, state."""
    revived: str
    """Tasks that others were told of that they failed, and that have not: topic, first, last → sequence."""
    orphans: str
    """Forget what tasks waited for that are gone: topic, first, last."""
    forget: str
    """Forget what tasks waited for: sequences."""
    move_run: str
    """Let others wait in the place of tasks: sequences, others."""
    move_after: str
    """Let others be waited for in the place of tasks: sequences, others."""
    predecessors: str
    """What a task waits or waited for: topic, sequence → topic, sequence."""
    dependents: str
    """Who waits or waited for a task: topic, sequence → topic, sequence."""
    unlock: str | None
    """Delete the rows that locks on identifiers were had by, where that is a statement: topic, identifiers, salt."""
    expect: str | None
    """Ask for an announcement when a task is decided, unless it is locked: topic, sequence."""


@dataclass(frozen=True, slots=True)
class Statements:
    """All statements of a database."""

    push: PushStatements
    claim: ClaimStatements
    hold: HoldStatements
    revive: ReviveStatements
    owner: OwnerStatements
    topic: TopicStatements
    list: ListStatements
    between: BetweenStatements
    dependency: DependencyStatements
