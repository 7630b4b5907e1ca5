"""Lists and counts: one algorithm for all databases."""

from datetime import UTC, date, datetime, time, timedelta

from task_api import (
    IDENTIFIER_LENGTH,
    INCEPTION,
    MAX_SEQUENCE,
    REFERENCE_LENGTH,
    Counting,
    Direction,
    InvalidTaskError,
    Listing,
    Snapshot,
    Summary,
    TaskInfo,
    TaskResult,
    TaskState,
)
from task_api.task import checked_name

from .arguments import checked_bound, checked_enum, checked_moment, checked_size, checked_topic
from .base import SqlRepository, T
from .statements import Filter
from .transaction import Row

__all__ = ["COLUMNS", "SqlTaskLister"]

COLUMNS = (
    "sequence, identifier, input, attempt, token, topic, state, descent, owner, reference,"
    " created, polled, completed, due, lease, origin, output, failed"
)
"""The columns of a TaskInfo, in the order in which rows are read."""


class SqlTaskLister(SqlRepository[T]):
    """Shows what there is."""

    def task(self, tx: T, topic: str, sequence: int) -> TaskInfo | None:
        """Return everything about one task; see `TaskRepository.task`."""
        parameters = {"topic": checked_topic(topic), "sequence": checked_bound("sequence", sequence)}
        transaction, _ = self._open(tx)
        rows = transaction.rows(self._statements.list.task, parameters)
        return self._info(rows[0]) if rows else None

    def page(
        self,
        tx: T,
        topic: str,
        *,
        start: int | datetime | None = None,
        size: int = 100,
        direction: Direction = Direction.FORWARD,
        listing: Listing = Listing(),  # noqa: B008 - immutable
    ) -> list[TaskInfo]:
        """Return a page of tasks; see `TaskRepository.page`."""
        checked_topic(topic)
        checked_size(size)
        backward = checked_enum(Direction, direction) is Direction.BACKWARD
        if not isinstance(listing, Listing):
            message = f"listing must be a Listing, not {type(listing).__name__}"
            raise InvalidTaskError(message)
        filters, values = _filters(listing)
        if start is None:
            start = MAX_SEQUENCE if backward else INCEPTION
        elif isinstance(start, datetime):
            start = checked_moment("start", start)
        elif checked_bound("start", start) < 0:
            return []
        if not size:
            return []
        if isinstance(start, datetime):
            resolved = self.resolve(tx, start, preceding=backward)
            start = min(resolved + 1, MAX_SEQUENCE) if backward else max(resolved - 1, INCEPTION)
        transaction, _ = self._open(tx)
        rows = transaction.rows(
            self._statements.list.page(direction, filters),
            {"topic": topic, "start": start, "size": size, **values},
        )
        return [self._info(row) for row in rows]

    def count(
        self,
        tx: T,
        snapshot: Snapshot = Snapshot.TOTAL,
        counting: Counting = Counting(),  # noqa: B008 - immutable
        *,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> dict[str, dict[TaskState, Summary]]:
        """Count tasks by topic and state; see `TaskRepository.count`."""
        checked_enum(Snapshot, snapshot)
        if not isinstance(counting, Counting):
            message = f"counting must be a Counting, not {type(counting).__name__}"
            raise InvalidTaskError(message)
        filters, values = _filters(counting)
        parameters = {"first": checked_bound("first", first), "last": checked_bound("last", last), **values}
        transaction, _ = self._open(tx)
        topics = {topic for (topic,) in transaction.rows(self._statements.topic.all)}
        if counting.topic is not None:
            topics &= {counting.topic}
        counts: dict[str, dict[TaskState, Summary]] = {topic: {} for topic in sorted(topics)}
        for topic, state, count, bound in transaction.rows(self._statements.list.count(snapshot, filters), parameters):
            if topic in counts:
                counts[topic][TaskState(state)] = Summary(count, bound)
        return counts

    def results(
        self, tx: T, *, since: datetime | None = None, until: datetime | None = None
    ) -> dict[str, dict[TaskResult, int]]:
        """Count results by topic; see `TaskRepository.results`."""
        window = {
            "since": None if since is None else self._dialect.moment(checked_moment("since", since)),
            "until": None if until is None else self._dialect.moment(checked_moment("until", until)),
        }
        transaction, _ = self._open(tx)
        topics = sorted(topic for (topic,) in transaction.rows(self._statements.topic.all))
        results: dict[str, dict[TaskResult, int]] = {topic: {} for topic in topics}
        for topic, state, count in transaction.rows(self._statements.list.results, window):
            if topic in results:
                results[topic][TaskResult(state - TaskState.FAILED)] = count
        return results

    def resolve(self, tx: T, moment: datetime | date, *, preceding: bool = False) -> int:
        """Turn a moment into a sequence; see `TaskRepository.resolve`."""
        inclusive = True
        if isinstance(moment, date) and not isinstance(moment, datetime):
            if moment == date.max:
                return MAX_SEQUENCE
            day = moment + timedelta(days=1) if preceding else moment
            moment, inclusive = datetime.combine(day, time(), UTC), not preceding
        moment = checked_moment("moment", moment)
        if moment.replace(tzinfo=None) == datetime.min:  # noqa: DTZ901 - compared as it was given
            return INCEPTION
        if moment.replace(tzinfo=None) == datetime.max:  # noqa: DTZ901 - compared as it was given
            return MAX_SEQUENCE
        transaction, _ = self._open(tx)
        [(sequence,)] = transaction.rows(
            self._statements.list.resolve[bool(preceding), inclusive], {"moment": self._dialect.moment(moment)}
        )
        if sequence is not None:
            return int(sequence)
        return INCEPTION if preceding else MAX_SEQUENCE

    def _info(self, row: Row) -> TaskInfo:
        (
            sequence, identifier, text, attempt, token, topic, state, descent, owner, reference,
            created, polled, completed, due, lease, origin, output, failed,
        ) = row  # fmt: skip
        read = self._dialect.read_moment
        moment = read(created)
        assert moment is not None  # noqa: S101 - the column is NOT NULL
        return TaskInfo(
            sequence,
            identifier,
            text,
            attempt,
            token,
            failed=failed or 0,
            topic=topic,
            state=TaskState(state),
            descent=TaskState(descent),
            owner=owner,
            reference=reference,
            created=moment,
            polled=read(polled),
            completed=read(completed),
            due=read(due),
            lease=read(lease),
            origin=origin,
            output=output,
        )


def _filters(asked: Listing | Counting) -> tuple[Filter, dict[str, object]]:
    """Split what is asked for into the shape of a statement and its values."""
    values: dict[str, object] = {}
    topic = asked.topic if isinstance(asked, Counting) else None
    if topic is not None:
        values["topic"] = checked_topic(topic)
    if asked.reference is not None:
        values["reference"] = checked_name("reference", asked.reference, REFERENCE_LENGTH)
    if asked.identifier is not None:
        values["identifier"] = checked_name("identifier", asked.identifier, IDENTIFIER_LENGTH)
    state = None if asked.state is None else checked_enum(TaskState, asked.state)
    return Filter(topic is not None, state, "reference" in values, "identifier" in values), values
