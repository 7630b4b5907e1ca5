"""Polling tasks and deciding them: one algorithm for all databases."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final

from task_api import (
    Claim,
    Condition,
    InvalidTaskError,
    LostTaskError,
    Order,
    Task,
    TaskDecision,
    TaskState,
    UnknownTopicError,
)
from task_api.decision import different_decisions
from task_api.task import new_task, present

from .arguments import (
    check_tasks,
    checked_enum,
    checked_lease,
    checked_size,
    checked_task,
    checked_tasks,
    checked_timeout,
    checked_topic,
    storable,
)
from .base import T
from .dialect import Decided, Poll
from .settling import SqlSettling, outcome_of
from .transaction import Transaction

__all__ = ["SqlTaskSource"]

_SUSPENDED: Final = int(TaskState.SUSPENDED)
_SEQUENCE: Final = attrgetter("sequence")
"""Tasks are sorted by it, as they would be without, only faster."""


class SqlTaskSource(SqlSettling[T]):
    """Polls, holds and decides tasks."""

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
        """Claim the next task, if there is one; see `TaskSource.poll`."""
        tasks = self.poll_many(tx, topic, 1, order=order, condition=condition, lease=lease, claim=claim, strict=strict)
        return tasks[0] if tasks else None

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
        """Claim up to ``size`` tasks, in order; see `TaskSource.poll_many`."""
        poll = Poll(
            checked_topic(topic),
            self.owner,
            checked_size(size),
            checked_enum(Order, order),
            checked_enum(Condition, condition),
            checked_lease(lease),
            checked_enum(Claim, claim),
        )
        if not size:
            return []
        transaction, layout = self._open(tx)
        self._require_transaction(transaction, claim)
        rows = self._dialect.claim(transaction, layout, poll)
        if not rows:
            self._require_owner(transaction)
            if strict and not transaction.rows(self._statements.topic.known, {"topic": topic}):
                raise UnknownTopicError(topic)
            return []
        rows.sort(reverse=order is Order.LAST_IN_FIRST_OUT)
        return [
            new_task(sequence, identifier, text, attempt, token, claim, failed or 0)
            for sequence, identifier, text, attempt, token, failed in rows
        ]

    def complete(self, tx: T, topic: str, task: Task, decision: TaskDecision = TaskDecision.SUCCESS) -> None:
        """Decide one held task; see `TaskSource.complete_many`."""
        checked_topic(topic)
        checked_task(task)
        _check_decisions({task: decision})
        state, output, due, delay = self._decided(decision)
        transaction, layout = self._open(tx)
        parameters = {
            "topic": topic,
            "owner": self.owner,
            "sequence": task.sequence,
            "token": task.token,
            "state": state,
            "output": output,
            "due": due,
            "delay": delay,
        }
        with self._dialect.unit(transaction) if self._dialect.autocommit(transaction) else nullcontext():
            if task.claim is Claim.TRANSACTION:
                self._dialect.recall(transaction)
            statement = self._statements.hold.complete_one[task.claim]
            ended = () if state == _SUSPENDED else (task.sequence,)
            number, awaited = self._dialect.decide(transaction, statement, parameters, ended)
            self._require_all(transaction, topic, [task], number)
            if awaited:
                self._settle_decided(
                    transaction, layout, topic, {task.sequence: outcome_of(topic, task, state, output)}
                )

    def complete_many(self, tx: T, topic: str, decisions: Mapping[Task, TaskDecision]) -> None:
        """Decide held tasks, all of them or none; see `TaskSource.complete_many`."""
        checked_topic(topic)
        if not isinstance(decisions, Mapping):
            message = f"decisions are a mapping from task to decision, not {type(decisions).__name__}"
            raise InvalidTaskError(message)
        decisions = dict(decisions)  # whatever it is, it tells each decision once
        check_tasks(decisions)
        _check_decisions(decisions)
        if not decisions:
            return
        if len(decisions) == 1:
            [(task, decision)] = decisions.items()
            self.complete(tx, topic, task, decision)
            return
        transaction, layout = self._open(tx)
        claims = _by_claim(decisions)
        known = {id(decision): self._decided(decision) for decision in different_decisions(decisions.values())}
        goes_on = {key for key, decided in known.items() if decided[0] == _SUSPENDED}
        ended = [task.sequence for task, decision in decisions.items() if id(decision) not in goes_on]
        with self._dialect.unit(transaction):
            if Claim.TRANSACTION in claims:
                self._dialect.recall(transaction)
            if len(claims) > 1:
                self._lock(transaction, topic, claims)
            awaited: set[int] = set()
            for claim, tasks in claims.items():
                statement, parameters = self._completion(claim, tasks, decisions, known)
                number, more = self._dialect.decide(transaction, statement, {"topic": topic, **parameters}, ended)
                self._require_all(transaction, topic, tasks, number)
                awaited.update(more)
            if awaited:
                outcomes = {
                    task.sequence: outcome_of(topic, task, *known[id(decision)][:2])
                    for task, decision in decisions.items()
                    if task.sequence in awaited
                }
                self._settle_decided(transaction, layout, topic, outcomes)

    def release(self, tx: T, topic: str, tasks: Iterable[Task]) -> None:
        """Give held tasks back unstarted; see `TaskSource.release`."""
        self._hold_committed(tx, topic, tasks, self._statements.hold.release, {})

    def extend(self, tx: T, topic: str, tasks: Iterable[Task], lease: timedelta) -> None:
        """Move the end of the claims; see `TaskSource.extend`."""
        parameters = {"lease": self._dialect.span(checked_timeout(lease, "lease"))}
        self._hold_committed(tx, topic, tasks, self._statements.hold.extend, parameters)

    def checkpoint(self, tx: T, topic: str, task: Task, input: str | None) -> None:  # noqa: A002 - the field
        """Replace a held task's input; see `TaskSource.checkpoint`."""
        checked_topic(topic)
        checked_task(task)
        text = storable(present(input, "input"))
        transaction, _ = self._open(tx)
        with self._dialect.unit(transaction):
            if task.claim is Claim.TRANSACTION:
                self._dialect.recall(transaction)
            if not transaction.run(
                self._statements.hold.checkpoint[task.claim],
                {
                    "topic": topic,
                    "owner": self.owner,
                    "sequence": task.sequence,
                    "token": task.token,
                    "input": text,
                },
            ):
                raise LostTaskError(topic, [task])

    def promote(self, tx: T, topic: str) -> int:
        """Make due tasks READY; see `TaskSource.promote`."""
        checked_topic(topic)
        transaction, layout = self._open(tx)
        return transaction.run(self._statements.claim.promote, {"topic": topic, "notify": layout.notify})

    def next_due(self, tx: T, topic: str) -> datetime | None:
        """Return the earliest due time; see `TaskSource.next_due`."""
        checked_topic(topic)
        transaction, _ = self._open(tx)
        [(due,)] = transaction.rows(self._statements.claim.next_due, {"topic": topic})
        return self._dialect.read_moment(due)

    def _require_transaction(self, transaction: Transaction, claim: Claim) -> None:
        if claim is Claim.TRANSACTION and self._dialect.autocommit(transaction):
            message = "Claim.TRANSACTION needs an open transaction, the connection is in autocommit mode"
            raise InvalidTaskError(message)

    def _hold_committed(
        self, tx: T, topic: str, tasks: Iterable[Task], statement: str, parameters: Mapping[str, object]
    ) -> None:
        """Do to held tasks what only touches committed claims: the others end with their transaction."""
        checked_topic(topic)
        claims = _by_claim(checked_tasks(tasks))
        if not claims:
            return
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            if Claim.TRANSACTION in claims:
                self._dialect.recall(transaction)
                self._lock(transaction, topic, claims)
            if committed := claims.get(Claim.COMMITTED):
                given = {**self._claims(topic, committed), **parameters, "notify": layout.notify}
                self._hold(transaction, statement, topic, committed, given)

    def _hold(
        self,
        transaction: Transaction,
        statement: str,
        topic: str,
        tasks: Sequence[Task],
        parameters: Mapping[str, object],
    ) -> None:
        self._require_all(transaction, topic, tasks, transaction.run(statement, parameters))

    def _require_all(self, transaction: Transaction, topic: str, tasks: Sequence[Task], number: int) -> None:
        if number != len(tasks):
            held = transaction.rows(self._statements.hold.held[tasks[0].claim], self._claims(topic, tasks))
            if len(held) == len(tasks):
                self._dialect.refused(transaction)
            raise _lost(topic, tasks, {sequence for (sequence,) in held})

    def _lock(self, transaction: Transaction, topic: str, claims: Mapping[Claim, Sequence[Task]]) -> None:
        """Make sure of all claims at once, where one statement can't."""
        held = {
            sequence
            for claim, tasks in claims.items()
            for (sequence,) in transaction.rows(self._statements.hold.lock[claim], self._claims(topic, tasks))
        }
        tasks = [task for group in claims.values() for task in group]
        if len(held) != len(tasks):
            raise _lost(topic, tasks, held)

    def _completion(
        self,
        claim: Claim,
        tasks: Sequence[Task],
        decisions: Mapping[Task, TaskDecision],
        known: Mapping[int, Decided],
    ) -> tuple[str, dict[str, object]]:
        """Decide all alike where they are, as most batches are; else each its own way."""
        hold = self._statements.hold
        held = {"owner": self.owner, "number": len(tasks)}
        sequences, tokens = [task.sequence for task in tasks], [task.token for task in tasks]
        first = next(iter(known.values()))
        if any(other != first for other in known.values()):
            decided = [known[id(decisions[task])] for task in tasks]
            return hold.complete[claim], {**held, **self._dialect.decisions(sequences, tokens, decided)}
        state, output, due, delay = first
        alike = {"state": state, "output": output, "due": due, "delay": delay}
        if hold.complete_alike and len(set(tokens)) == 1:
            one = {"token": tokens[0], **self._dialect.table(sequences=sequences)}
            return hold.complete_alike[claim], {**held, **one, **alike}
        return hold.complete_same[claim], {**held, **self._dialect.claims(sequences, tokens), **alike}

    def _claims(self, topic: str, tasks: Sequence[Task]) -> dict[str, object]:
        return {
            "topic": topic,
            "owner": self.owner,
            "number": len(tasks),
            **self._dialect.claims([task.sequence for task in tasks], [task.token for task in tasks]),
        }

    def _decided(self, decision: TaskDecision) -> Decided:
        due, delay = self._dialect.due(decision.due)
        return int(decision.state), storable(decision.output), due, delay


def _check_decisions(decisions: Mapping[Task, object]) -> None:
    if set(map(type, decisions.values())) <= {TaskDecision}:
        return
    for task, decision in decisions.items():
        if not isinstance(decision, TaskDecision):
            message = f"the decision on {task} must be a TaskDecision, not {type(decision).__name__}"
            raise InvalidTaskError(message)


def _by_claim(tasks: Iterable[Task]) -> dict[Claim, list[Task]]:
    """Return the tasks in their order, by how they are held."""
    ordered = sorted(tasks, key=_SEQUENCE)
    claims = {claim: [task for task in ordered if task.claim is claim] for claim in Claim}
    return {claim: held for claim, held in claims.items() if held}


def _lost(topic: str, tasks: Iterable[Task], held: set[int]) -> LostTaskError:
    return LostTaskError(topic, [task for task in tasks if task.sequence not in held])
