"""Topics, their activation and their purge: one algorithm for all databases."""

from collections.abc import Collection

from task_api import FINISHED, INCEPTION, MAX_SEQUENCE, InvalidTaskError, TaskState

from .arguments import checked_bound, checked_states, checked_topic
from .base import T
from .schema.layout import Layout
from .settling import SqlSettling
from .transaction import Transaction

__all__ = ["SqlTopics"]


class SqlTopics(SqlSettling[T]):
    """Knows the topics, and deletes what is no longer wanted."""

    def initialize(self, tx: T, topic: str) -> bool:
        """Make a topic known; see `TaskRepository.initialize`."""
        checked_topic(topic)
        transaction, _ = self._open(tx)
        return self._dialect.initialize(transaction, topic)

    def destroy(self, tx: T, topic: str) -> bool:
        """Delete all tasks of a topic and forget it; see `TaskRepository.destroy`."""
        parameters = {"topic": checked_topic(topic)}
        transaction, layout = self._open(tx)
        statements = self._statements.topic
        with self._dialect.unit(transaction):
            if statements.exclude:
                transaction.run(statements.exclude, parameters)
            if not transaction.run(statements.forget, parameters):
                return False
            transaction.run(statements.deactivate, parameters)
            while transaction.run(statements.clear, parameters):
                pass  # until nobody copies a task any more that was about to be deleted
            self._deleted(transaction, layout, topic)
            return True

    def topics(self, tx: T) -> set[str]:
        """Return the topics that are initialized; see `TaskRepository.topics`."""
        transaction, _ = self._open(tx)
        return {topic for (topic,) in transaction.rows(self._statements.topic.all)}

    def activation(self, tx: T, topic: str) -> bool | None:
        """Tell whether the topic is to be processed; see `TaskRepository.activation`."""
        parameters = {"topic": checked_topic(topic)}
        transaction, _ = self._open(tx)
        rows = transaction.rows(self._statements.topic.activation, parameters)
        return bool(rows[0][0]) if rows else None

    def activate(self, tx: T, topic: str, active: bool) -> None:  # noqa: FBT001 - the value that is stored
        """Store whether the topic is to be processed; see `TaskRepository.activate`."""
        if not isinstance(active, bool):
            message = f"active must be True or False, not {active!r}"
            raise InvalidTaskError(message)
        parameters = {"topic": checked_topic(topic), "active": active}
        transaction, layout = self._open(tx)
        transaction.run(self._statements.topic.activate, {**parameters, "notify": layout.notify})

    def purge(
        self,
        tx: T,
        topic: str,
        *,
        states: Collection[TaskState] = FINISHED,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> int:
        """Delete tasks in the given states; see `TaskRepository.purge`."""
        chosen = _checked_purgeable(states)
        parameters = {
            "topic": checked_topic(topic),
            "first": checked_bound("first", first),
            "last": checked_bound("last", last),
        }
        if not chosen or first > last:
            return 0
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            number = transaction.run(self._statements.topic.purge(chosen), parameters)
            if number:
                self._deleted(transaction, layout, topic, first, last)
            return number

    def purge_all(self, tx: T, topic: str) -> None:
        """Delete every task of the topic; see `TaskRepository.purge_all`."""
        parameters = {"topic": checked_topic(topic)}
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            transaction.run(self._statements.topic.clear, parameters)
            self._deleted(transaction, layout, topic)

    def refresh(self, tx: T) -> None:
        """Renew the statistics; see `TaskRepository.refresh`."""
        transaction, _ = self._open(tx)
        if statement := self._statements.topic.refresh:
            transaction.run(statement)

    def _deleted(
        self, transaction: Transaction, layout: Layout, topic: str, first: int = INCEPTION, last: int = MAX_SEQUENCE
    ) -> None:
        """Forget what deleted tasks waited for, and tell those who waited for them."""
        transaction.run(self._statements.dependency.orphans, {"topic": topic, "first": first, "last": last})
        self._settle_range(transaction, layout, topic, first, last)


def _checked_purgeable(states: object) -> frozenset[TaskState]:
    chosen = checked_states(states)
    if TaskState.ACTIVE in chosen:
        message = "ACTIVE tasks are not purged, somebody works on them; expire or eject them first"
        raise InvalidTaskError(message)
    return chosen
