"""Tasks by a range of identifiers: one algorithm for all databases."""

from datetime import timedelta
from typing import Final

from task_api import (
    IDENTIFIER_LENGTH,
    Claim,
    Condition,
    Order,
    Task,
    TaskInfo,
    TaskStateError,
)
from task_api.task import checked_name

from .arguments import checked_enum, checked_lease, checked_topic
from .base import T
from .dialect import Poll
from .lister import SqlTaskLister
from .source import SqlTaskSource

__all__ = ["SqlTasksBetween"]

_LOWEST: Final = "\x01"
"""Not above any identifier: none is empty or holds a NUL."""
_HIGHEST: Final = "\U0010ffff" * (IDENTIFIER_LENGTH + 1)
"""Above every identifier."""


class SqlTasksBetween(SqlTaskSource[T], SqlTaskLister[T]):
    """Polls and lists by identifiers, which are compared by their code points."""

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
        """Claim the task of the lowest identifier in a range; see `TaskSource.poll_between`."""
        poll = Poll(
            checked_topic(topic),
            self.owner,
            1,
            Order.FIRST_IN_FIRST_OUT,
            Condition.NONE,
            checked_lease(lease),
            checked_enum(Claim, claim),
        )
        low, high = _bounds(low, high)
        transaction, _ = self._open(tx)
        self._require_transaction(transaction, claim)
        rows = self._dialect.claim_between(transaction, poll, low, high)
        if not rows:
            self._require_owner(transaction)
            return None
        [(sequence, identifier, text, attempt, token, failed)] = rows
        return Task(sequence, identifier, text, attempt, token, claim, failed or 0)

    def between(self, tx: T, topic: str, low: str | None, high: str | None, *, lock: bool = False) -> list[TaskInfo]:
        """Return the tasks of a range of identifiers; see `TaskRepository.between`."""
        checked_topic(topic)
        low, high = _bounds(low, high)
        parameters = {"topic": topic, "low": low, "high": high}
        transaction, _ = self._open(tx)
        statements = self._statements.between
        if not lock:
            return [self._info(row) for row in transaction.rows(statements.all, parameters)]
        with self._dialect.unit(transaction):
            present = [self._info(row) for row in transaction.rows(statements.all, parameters)]
            locked = [self._info(row) for row in transaction.rows(statements.lock, parameters)]
            if others := set(present).difference(locked):
                raise TaskStateError(topic, others)
            return locked


def _bounds(low: object, high: object) -> tuple[str, str]:
    return (
        _LOWEST if low is None else checked_name("low", low, IDENTIFIER_LENGTH),
        _HIGHEST if high is None else checked_name("high", high, IDENTIFIER_LENGTH),
    )
