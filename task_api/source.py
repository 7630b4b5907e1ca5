"""Polling tasks and deciding them."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol, TypeVar

from .claim import Claim
from .decision import TaskDecision
from .task import Task

__all__ = ["Condition", "Order", "TaskSource"]

T = TypeVar("T", contravariant=True)


class Order(Enum):
    """Which end of the topic a poll takes from."""

    FIRST_IN_FIRST_OUT = "FIRST_IN_FIRST_OUT"
    """The lowest sequences, ascending."""
    LAST_IN_FIRST_OUT = "LAST_IN_FIRST_OUT"
    """The highest sequences, descending."""


class Condition(Enum):
    """Which READY tasks a poll leaves alone because of others of their topic and identifier."""

    NONE = "NONE"
    """None."""
    SINGULAR_BY_IDENTIFIER = "SINGULAR_BY_IDENTIFIER"
    """Those with an ACTIVE sibling, or a READY one that comes first."""
    SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE = "SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE"
    """Also those with an EXPIRED or FAILED sibling, older or newer."""
    SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS = "SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS"
    """Also those with an EXPIRED, FAILED or SUSPENDED sibling, older or newer."""


class TaskSource(Protocol[T]):
    """Where consumers get tasks from, and decide them in their own transaction."""

    def poll(
        self,
        tx: T,
        topic: str,
        *,
        order: Order = Order.FIRST_IN_FIRST_OUT,
        condition: Condition = Condition.NONE,
        lease: timedelta | None = None,
        claim: Claim = Claim.COMMITTED,
        strict: bool = False,
    ) -> Task | None:
        """
        Claim the next task, if there is one.

        Args:
            tx: The caller's transaction.
            topic: The topic to take from; an unknown one is empty, unless ``strict``.
            order: Which end to take from.
            condition: Which tasks to leave alone because of their siblings.
            lease: The longest time that this claim lasts; without one only the owner's heartbeat counts.
            claim: How the task is held until it is decided.
            strict: Raise UnknownTopicError for a topic that is not initialized.

        Raises:
            UnknownOwnerError: the owner is not registered; the transaction stays usable.

        """
        ...

    def poll_many(
        self,
        tx: T,
        topic: str,
        size: int,
        *,
        order: Order = Order.FIRST_IN_FIRST_OUT,
        condition: Condition = Condition.NONE,
        lease: timedelta | None = None,
        claim: Claim = Claim.COMMITTED,
        strict: bool = False,
    ) -> list[Task]:
        """Claim up to ``size`` tasks, in order; fewer only when no more are eligible. See `poll`."""
        ...

    def poll_between(
        self,
        tx: T,
        topic: str,
        low: str | None,
        high: str | None,
        *,
        lease: timedelta | None = None,
        claim: Claim = Claim.COMMITTED,
    ) -> Task | None:
        """
        Claim the READY task of the lowest identifier from ``low`` on and below ``high``, whatever its place.

        Identifiers are compared by their code points, None is no bound. Tasks that others have claimed or locked are
        passed over, never waited for. See `poll`.
        """
        ...

    def complete(self, tx: T, topic: str, task: Task, decision: TaskDecision = TaskDecision.SUCCESS) -> None:
        """Decide one held task. See `complete_many`."""
        ...

    def complete_many(self, tx: T, topic: str, decisions: Mapping[Task, TaskDecision]) -> None:
        """
        Decide held tasks, all of them or none.

        Raises:
            LostTaskError: some are not held by this owner with their token; nothing is changed, also when the
                error is caught and the transaction committed.

        """
        ...

    def release(self, tx: T, topic: str, tasks: Iterable[Task]) -> None:
        """Give held tasks back unstarted: READY at their old place, the attempt not counted. All or none."""
        ...

    def extend(self, tx: T, topic: str, tasks: Iterable[Task], lease: timedelta) -> None:
        """Move the end of the claims on held tasks to ``lease`` from now. All or none."""
        ...

    def checkpoint(self, tx: T, topic: str, task: Task, input: str | None) -> None:  # noqa: A002 - the field
        """Replace a held task's input, so that whoever works on it next goes on from there."""
        ...

    def promote(self, tx: T, topic: str) -> int:
        """Make SUSPENDED tasks READY whose due time has come; return how many."""
        ...

    def next_due(self, tx: T, topic: str) -> datetime | None:
        """Return the earliest due time of the topic's SUSPENDED tasks."""
        ...
