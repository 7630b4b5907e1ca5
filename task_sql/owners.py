"""Owners, heartbeats and expiry: one algorithm for all databases."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from task_api import REVIVABLE, InvalidTaskError, Task, TaskState, TaskStateError, UnknownOwnerError

from .arguments import checked_lease, checked_states, checked_task, checked_timeout, checked_topic
from .base import SqlRepository, T

__all__ = ["SqlOwners"]

_EJECTABLE: Final = REVIVABLE | {TaskState.ACTIVE, TaskState.READY}


class SqlOwners(SqlRepository[T]):
    """Knows who is alive, and takes tasks from those who are not."""

    def register(self, tx: T) -> bool:
        """Make the owner known; see `TaskRepository.register`."""
        transaction, _ = self._open(tx)
        with self._dialect.unit(transaction):
            if transaction.run(self._statements.owner.register, {"owner": self.owner}) == 1:
                return True
            transaction.run(self._statements.owner.heartbeat, {"owner": self.owner})
            return False

    def heartbeat(self, tx: T) -> None:
        """Say that the owner is alive; see `TaskRepository.heartbeat`."""
        transaction, _ = self._open(tx)
        if not transaction.run(self._statements.owner.heartbeat, {"owner": self.owner}):
            raise UnknownOwnerError(self.owner)

    def owners(self, tx: T, timeout: timedelta) -> set[str]:
        """Return the other owners that are alive; see `TaskRepository.owners`."""
        parameters = self._silence(timeout)
        transaction, _ = self._open(tx)
        return {owner for (owner,) in transaction.rows(self._statements.owner.alive, parameters)}

    def expire(self, tx: T, timeout: timedelta) -> int:
        """Expire what dead owners or ended leases left; see `TaskRepository.expire`."""
        parameters = self._silence(timeout)
        transaction, _ = self._open(tx)
        return transaction.run(self._statements.owner.expire, parameters)

    def purge_owners(self, tx: T, timeout: timedelta) -> int:
        """Forget dead owners that no task names; see `TaskRepository.purge_owners`."""
        parameters = self._silence(timeout)
        transaction, _ = self._open(tx)
        return transaction.run(self._statements.owner.purge, parameters)

    def eject(
        self,
        tx: T,
        topic: str,
        task: Task,
        *,
        lease: timedelta | None = None,
        states: Collection[TaskState] = (TaskState.ACTIVE,),
    ) -> Task:
        """Take a task over at once; see `TaskRepository.eject`."""
        parameters = {
            "topic": checked_topic(topic),
            "owner": self.owner,
            "sequence": checked_task(task).sequence,
            "lease": self._dialect.span(checked_lease(lease)),
        }
        chosen = _checked_ejectable(states)
        transaction, _ = self._open(tx)
        rows = transaction.rows(self._statements.claim.eject(chosen), parameters)
        if not rows:
            self._require_owner(transaction)
            raise TaskStateError(topic, [task])
        [(sequence, identifier, text, attempt, token, failed)] = rows
        return Task(sequence, identifier, text, attempt, token, failed=failed or 0)

    def _silence(self, timeout: timedelta) -> dict[str, object]:
        return {"owner": self.owner, "timeout": self._dialect.span(-checked_timeout(timeout))}


def _checked_ejectable(states: object) -> frozenset[TaskState]:
    chosen = checked_states(states)
    if chosen and chosen <= _EJECTABLE:
        return chosen
    names = ", ".join(state.name for state in sorted(_EJECTABLE))
    message = f"states to eject a task from are some of {names}, not {', '.join(map(str, sorted(chosen))) or 'none'}"
    raise InvalidTaskError(message)
