"""Letting tasks wait for others: one algorithm for all databases."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from task_api import OnAbort, Task, TaskRef, TaskState, TaskStateError

from .base import T
from .refs import by_topic
from .schema.layout import Layout
from .settling import SqlSettling, outcome_of
from .transaction import Row, Transaction

__all__ = ["READY_THEN", "SUSPENDED_THEN", "SqlLinking", "require_original", "require_waitable"]

READY_THEN: Final = 1
"""The task becomes READY when all that it waits for are done."""
SUSPENDED_THEN: Final = 2
"""The task waits for a junction beside."""

_WAITABLE: Final = frozenset({TaskState.READY, TaskState.SUSPENDED})
_ENDED: Final = frozenset({TaskState.FAILED, TaskState.FILTERED, TaskState.SUCCEEDED, TaskState.REDUNDANT})

Fresh = Mapping[TaskRef, tuple[int, OnAbort]]
"""New tasks, with what they become when the others are done, and when one fails."""


class SqlLinking(SqlSettling[T]):
    """Links tasks to those that they wait for."""

    def _alone_with(self, transaction: Transaction, topic: str, identifiers: Iterable[str], salt: int) -> None:
        """Wait for other transactions that do the same with one of the identifiers, and leave no trace of it."""
        chosen = sorted(set(identifiers))
        self._dialect.serialize(transaction, topic, chosen, salt)
        if unlock := self._statements.dependency.unlock:
            transaction.run(unlock, {"topic": topic, "salt": salt, **self._dialect.table(identifiers=chosen)})

    def _link(
        self,
        transaction: Transaction,
        layout: Layout,
        links: Sequence[tuple[TaskRef, TaskRef]],
        known: Mapping[TaskRef, Row],
        fresh: Fresh,
    ) -> None:
        """Let tasks wait for others: all are locked, and known, except the fresh ones, which nobody else sees."""
        present = [(run, after) for run, after in links if after in fresh or after in known]
        self._tie_runs(transaction, {run for run, _ in links}, known, fresh)
        heads = {after for _, after in present if after in fresh} - {run for run, _ in links}
        for topic, sequences in by_topic(heads).items():
            self._tie(transaction, topic, sequences, awaited=True)
        for (topic, after_topic), pairs in _by_topics(present).items():
            runs, afters = zip(*pairs, strict=True)
            parameters = {"topic": topic, "after_topic": after_topic}
            table = self._dialect.table(sequences=runs, afters=afters)
            transaction.run(self._statements.dependency.link, {**parameters, **table})
        self._settle_known(transaction, layout, known)
        # What is gone is not waited for, nor is again what has been waited for before.
        settled = {run for run, after in links if run not in fresh or (after not in fresh and after not in known)}
        for topic, sequences in by_topic(settled).items():
            self._release(transaction, layout, topic, sequences)

    def _tie_runs(
        self, transaction: Transaction, runs: Iterable[TaskRef], known: Mapping[TaskRef, Row], fresh: Fresh
    ) -> None:
        ties: defaultdict[tuple[str, int | None, int | None], list[int]] = defaultdict(list)
        for run in sorted(runs):
            if run in fresh:
                waits, on_abort = fresh[run]
                ties[run.topic, waits, on_abort.value].append(run.sequence)
                continue
            _, _, state, waiting, stored, due = known[run]
            then = READY_THEN if state == TaskState.READY or due else SUSPENDED_THEN
            key = run.topic, None if waiting else then, OnAbort.CASCADE.value if stored is None else None
            ties[key].append(run.sequence)
        for (topic, later, abort), sequences in ties.items():
            self._tie(transaction, topic, sequences, waits=later, on_abort=abort, awaited=True)

    def _settle_known(self, transaction: Transaction, layout: Layout, known: Mapping[TaskRef, Row]) -> None:
        """Signal what has become of tasks already; those that nobody waits for are among them, which does no harm."""
        outcomes: defaultdict[str, dict[int, str | None]] = defaultdict(dict)
        for ref, (_, identifier, state, *_) in known.items():
            if state in _ENDED:
                name = f"{identifier} ({ref.sequence})"
                outcomes[ref.topic][ref.sequence] = outcome_of(ref.topic, name, state)
        for topic, ended in sorted(outcomes.items()):
            self._settle(transaction, layout, topic, ended)


def require_waitable(runs: Iterable[TaskRef], known: Mapping[TaskRef, Row]) -> None:
    """See to it that tasks can be told to wait: nobody holds them, and they are not decided."""
    _refuse({run for run in runs if run not in known or known[run][2] not in _WAITABLE}, known)


def require_original(afters: Iterable[TaskRef], known: Mapping[TaskRef, Row]) -> None:
    """See to it that tasks can be waited for: none was recreated, so that another stands for it."""
    _refuse({after for after in afters if after in known and known[after][2] == TaskState.RECREATED}, known)


def _refuse(wrong: Iterable[TaskRef], known: Mapping[TaskRef, Row]) -> None:
    for topic, sequences in by_topic(wrong).items():
        rows = (known.get(TaskRef(topic, sequence)) for sequence in sequences)
        tasks = [Task(sequence, row[1] if row else "?") for sequence, row in zip(sequences, rows, strict=True)]
        raise TaskStateError(topic, tasks)


def _by_topics(links: Iterable[tuple[TaskRef, TaskRef]]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    topics: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for run, after in sorted(set(links)):
        topics.setdefault((run.topic, after.topic), []).append((run.sequence, after.sequence))
    return topics
