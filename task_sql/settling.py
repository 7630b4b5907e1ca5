"""
Telling those who wait for tasks what became of them: one algorithm for all databases.

Whoever decides a task and whoever lets another wait for it exclude each other; so either the decision sees all who
wait, or they see the decision. What waits is locked before its signals are looked at, so that of two decisions that
come together, the second sees the signal of the first.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Final

from task_api import OnAbort, TaskState

from .base import SqlRepository, T
from .dialect import Link
from .schema.layout import Layout
from .transaction import Row, Transaction

__all__ = ["OPEN", "SqlSettling", "outcome_of"]

OPEN: Final = 0
"""The signal to a task as long as it waits for another."""
_DONE: Final = 1
"""The signal that the other is done."""
_FAILED: Final = 2
"""The signal that the other is not, and won't be."""

_DONE_STATES: Final = frozenset({TaskState.FILTERED, TaskState.SUCCEEDED})


def outcome_of(topic: str, name: object, state: int | None, output: str | None = None) -> str | None:
    """Return why a task that was decided or is gone is not done, or None if it is."""
    if state in _DONE_STATES:
        return None
    what = "was deleted" if state is None else TaskState(state).name
    reason = f": {output.splitlines()[0][:200]}" if output and output.strip() else ""
    return f"not run, because {name} of topic {topic!r} {what}{reason}"


@dataclass(slots=True)
class _Failure:
    """What follows when tasks fail: what is told to whom, and who fails too."""

    told: list[Link] = field(default_factory=list)
    causes: dict[tuple[str, int], str] = field(default_factory=dict)


class SqlSettling(SqlRepository[T]):
    """Signals to tasks what became of those that they wait for."""

    def _settle(self, transaction: Transaction, layout: Layout, topic: str, outcomes: Mapping[int, str | None]) -> None:
        """Signal that tasks of a topic are done, or why they are not; those that fail for it are no more done."""
        if not outcomes:
            return
        self._dialect.announce(transaction, topic, layout)
        if done := [sequence for sequence, cause in outcomes.items() if cause is None]:
            self._succeed(transaction, layout, done)
        if lost := {sequence: cause for sequence, cause in outcomes.items() if cause is not None}:
            self._fail(transaction, layout, lost)

    def _settle_decided(
        self, transaction: Transaction, layout: Layout, topic: str, outcomes: Mapping[int, str | None]
    ) -> None:
        """Signal what became of tasks that were decided just now, also to those who are about to wait for them."""
        if self._statements.dependency.seal:
            # All that may fail are locked at once, in an order that others keep too.
            sealed = defaultdict(set, {topic: set(outcomes)})
            lost = [sequence for sequence, cause in outcomes.items() if cause is not None]
            for link in self._dialect.downstream(transaction, lost) if lost else ():
                sealed[link.topic].add(link.run)
            for name, sequences in sorted(sealed.items()):
                self._lock_tasks(transaction, name, sequences, seal=True)
        self._settle(transaction, layout, topic, outcomes)

    def _settle_range(self, transaction: Transaction, layout: Layout, topic: str, first: int, last: int) -> None:
        """Signal what became of tasks of a topic, where many may have been decided or deleted at once."""
        parameters = {"topic": topic, "first": first, "last": last}
        revived = transaction.rows(self._statements.dependency.revived, parameters)
        self._reopen(transaction, [sequence for (sequence,) in revived])
        rows = transaction.rows(self._statements.dependency.settled, parameters)
        outcomes = {sequence: outcome_of(topic, sequence, state) for sequence, state in rows}
        self._settle(transaction, layout, topic, outcomes)

    def _abort(
        self, transaction: Transaction, layout: Layout, topic: str, sequences: Sequence[int], state: TaskState | None
    ) -> None:
        """Signal that tasks will never be done."""
        awaited = self._dialect.awaited(transaction, sequences)
        outcomes = {sequence: outcome_of(topic, sequence, state) for sequence in awaited}
        self._settle(transaction, layout, topic, outcomes)

    def _forget(self, transaction: Transaction, sequences: Sequence[int]) -> None:
        """Forget what deleted tasks waited for."""
        transaction.run(self._statements.dependency.forget, self._dialect.table(sequences=sequences))

    def _succeed(self, transaction: Transaction, layout: Layout, done: Sequence[int]) -> None:
        """Signal that tasks are done, again where those who wait were replaced by others meanwhile."""
        told: list[Link] = []
        while links := self._links(transaction, done, OPEN):
            self._lock_runs(transaction, links)
            told += links
            if self._send(transaction, links, _DONE) == len(links):
                break
        self._release_all(transaction, layout, told)

    def _fail(self, transaction: Transaction, layout: Layout, lost: Mapping[int, str]) -> None:
        """Signal that tasks failed, and let those fail that are to fail for it, and so on."""
        locked: dict[tuple[str, int], Row] = {}
        links: list[Link] = []
        while True:
            links = [link for link in self._dialect.downstream(transaction, list(lost)) if link.signal == OPEN]
            fresh = [link for link in links if (link.topic, link.run) not in locked]
            if not fresh:
                break
            # Those that are gone stay without a row.
            locked |= {(link.topic, link.run): () for link in fresh}
            locked |= self._lock_runs(transaction, fresh, seal=True)
        failure = _follow(links, locked, lost)
        self._send(transaction, failure.told, _FAILED)
        self._cascade(transaction, layout, failure.causes)
        self._release_all(transaction, layout, failure.told)

    def _cascade(self, transaction: Transaction, layout: Layout, causes: Mapping[tuple[str, int], str]) -> None:
        by_cause: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for (topic, sequence), cause in causes.items():
            by_cause[topic, cause].append(sequence)
        for (topic, cause), sequences in by_cause.items():
            parameters = {"topic": topic, "message": cause, **self._dialect.table(sequences=sorted(sequences))}
            transaction.run(self._statements.dependency.cascade, parameters)
        for topic in {topic for topic, _ in by_cause}:
            self._dialect.announce(transaction, topic, layout)

    def _reopen(self, transaction: Transaction, sequences: Sequence[int]) -> None:
        """Let tasks that failed for others, which are brought back, wait for them again."""
        if not sequences or not self._dialect.awaited(transaction, sequences):
            return
        links = self._links(transaction, sequences, _FAILED)
        failed = {key for key, row in self._lock_runs(transaction, links).items() if row[2] == TaskState.FAILED}
        again = [link for link in links if (link.topic, link.run) in failed]
        self._send(transaction, again, OPEN)
        for topic, runs in _by_topic(again).items():
            self._tie(transaction, topic, runs, waits=1)

    def _links(self, transaction: Transaction, sequences: Sequence[int], signal: int) -> list[Link]:
        """Find those who wait for tasks and were told so."""
        rows = transaction.rows(self._statements.dependency.waiting, self._dialect.table(sequences=sequences))
        return [link for link in (Link(*row) for row in rows) if link.signal == signal]

    def _lock_runs(
        self, transaction: Transaction, links: Iterable[Link], *, seal: bool = False
    ) -> dict[tuple[str, int], Row]:
        """Lock those who wait; return their rows."""
        return {
            (topic, row[0]): row
            for topic, runs in _by_topic(links).items()
            for row in self._lock_tasks(transaction, topic, runs, seal=seal)
        }

    def _lock_tasks(
        self, transaction: Transaction, topic: str, sequences: Iterable[int], *, seal: bool = False
    ) -> list[Row]:
        """Lock tasks, with a seal also against those who want to let others wait for them."""
        dependency = self._statements.dependency
        statement = (seal and dependency.seal) or dependency.lock
        table = self._dialect.table(sequences=sorted(set(sequences)))
        return transaction.rows(statement, {"topic": topic, **table})

    def _send(self, transaction: Transaction, links: Sequence[Link], signal: int) -> int:
        if not links:
            return 0
        table = self._dialect.table(sequences=[link.run for link in links], afters=[link.after for link in links])
        return transaction.run(self._statements.dependency.signal, {"signal": signal, **table})

    def _release_all(self, transaction: Transaction, layout: Layout, links: Iterable[Link]) -> None:
        for topic, runs in _by_topic(links).items():
            self._release(transaction, layout, topic, runs)

    def _release(self, transaction: Transaction, layout: Layout, topic: str, sequences: Sequence[int]) -> None:
        """Make tasks READY that wait for nothing any more."""
        parameters = {"topic": topic, "notify": layout.notify, **self._dialect.table(sequences=sequences)}
        transaction.run(self._statements.dependency.release, parameters)

    def _tie(
        self,
        transaction: Transaction,
        topic: str,
        sequences: Sequence[int],
        *,
        waits: int | None = None,
        on_abort: int | None = None,
        awaited: bool = False,
    ) -> None:
        """Note how tasks depend on others."""
        if sequences:
            noted = {"waits": waits, "on_abort": on_abort, "awaited": awaited}
            parameters = {"topic": topic, **noted, **self._dialect.table(sequences=sequences)}
            transaction.run(self._statements.dependency.tie, parameters)


def _follow(links: Iterable[Link], rows: Mapping[tuple[str, int], Row], lost: Mapping[int, str]) -> _Failure:
    """Work out what follows from the failure of tasks, each after those that it waits for."""
    incoming: defaultdict[int, list[Link]] = defaultdict(list)
    for link in links:
        incoming[link.run].append(link)
    order = TopologicalSorter({run: [link.after for link in waiting] for run, waiting in incoming.items()})
    causes = dict(lost)
    failure = _Failure()
    for run in order.static_order():
        waiting = [link for link in incoming.get(run, ()) if link.after in causes]
        row = rows[waiting[0].topic, run] if waiting else ()
        if not row:
            continue
        on_abort = OnAbort(row[4] or 0)
        if on_abort is OnAbort.WAIT:
            continue
        failure.told += waiting
        if on_abort is OnAbort.CASCADE and row[2] == TaskState.SUSPENDED:
            causes[run] = causes[waiting[0].after]
            failure.causes[waiting[0].topic, run] = causes[run]
    return failure


def _by_topic(links: Iterable[Link]) -> dict[str, list[int]]:
    topics: defaultdict[str, set[int]] = defaultdict(set)
    for link in links:
        topics[link.topic].add(link.run)
    return {topic: sorted(runs) for topic, runs in sorted(topics.items())}
