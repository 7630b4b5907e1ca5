"""Random histories: every call there is, in any order, in transactions that commit or roll back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from task_api import (
    FINISHED,
    REVIVABLE,
    Claim,
    Condition,
    Counting,
    Direction,
    Insertion,
    Junction,
    Listing,
    Order,
    Revivification,
    Snapshot,
    TaskCreation,
    TaskDecision,
    TaskResult,
    TaskState,
)
from tests.contention.plain_sql import execute
from tests.model.comparison import COMMIT, OWNERS, STAY, TOPICS, Comparison
from tests.model.model import FUTURE, PAST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hypothesis.strategies import DataObject

    from tests.model.model import Row

IDENTIFIERS = ["a", "b", "c", "d"]
HOUR, GONE = timedelta(hours=1), timedelta(seconds=-1)
STALE = timedelta(minutes=30)

sizes = st.integers(1, 4)
identifiers = st.sampled_from(IDENTIFIERS)
creations = st.lists(
    st.builds(
        TaskCreation,
        identifiers,
        input=st.sampled_from([None, "one", "two"]),
        reference=st.sampled_from([None, None, "x"]),
        suspended=st.sampled_from([False, False, True]),
        due=st.sampled_from([None, None, None, HOUR, GONE]),
    ),
    min_size=1,
    max_size=4,
)
decisions = st.sampled_from(
    [
        TaskDecision.SUCCESS,
        TaskDecision.success("done"),
        TaskDecision.FAILURE,
        TaskDecision.failure(ValueError("wrong")),
        TaskDecision.FILTER,
        TaskDecision.SUSPENSION,
        TaskDecision.suspension("later", due=HOUR),
        TaskDecision.retry(HOUR),
        TaskDecision.retry(GONE, "again"),
    ]
)
groups = st.lists(st.sets(identifiers, max_size=3), max_size=3)
purged = st.sampled_from([FINISHED, {TaskState.EXPIRED, TaskState.SUSPENDED}, {TaskState.READY}, set()])


def whenever(*states: TaskState) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    A rule for times when some task is in one of these states.

    Not while the open transaction alone has claimed tasks: other calls on those have no meaning worth a rule.
    """
    return precondition(lambda self: not self.model.claimed and any(row.state in states for row in self.model.rows))


class Histories(Comparison):
    """Two owners that take turns on two topics and four identifiers."""

    def topic(self, data: DataObject) -> str:
        """A topic."""
        return data.draw(st.sampled_from(TOPICS), label="topic")

    def state(self, data: DataObject, topic: str) -> TaskState:
        """A state to revive or reassign from, mostly one that some task is in."""
        present = {row.state for row in self.model.of(topic)} & REVIVABLE
        return data.draw(st.sampled_from(sorted(present) * 5 + sorted(REVIVABLE)), label="state")

    # Pushing and polling

    @initialize(data=st.data())
    def fill(self, data: DataObject) -> None:
        """No history begins with nothing."""
        for topic in TOPICS:
            self.push_to(data, topic, [TaskCreation(name) for name in "aabbcd"], Insertion.APPEND, COMMIT)

    @rule(data=st.data(), new=creations)
    def push(self, data: DataObject, new: list[TaskCreation]) -> None:
        """Push tasks in any mode, duplicates, suspended and due ones among them."""
        insertion = Insertion.APPEND
        if not self.model.claimed:
            insertion = data.draw(st.sampled_from(Insertion), label="insertion")
        self.push_to(data, self.topic(data), new, insertion)

    def push_to(
        self, data: DataObject, topic: str, new: list[TaskCreation], insertion: Insertion, end: str | None = None
    ) -> None:
        """Push tasks."""
        self.begin(data)
        self.step(
            topic,
            end or self.end(data),
            lambda r, tx: r.push_many(tx, topic, new, insertion=insertion),
            lambda m: m.push(topic, new, insertion),
        )

    @rule(data=st.data(), claim=st.sampled_from(Claim))
    def poll(self, data: DataObject, claim: Claim) -> None:
        """Poll in either order, under any condition, with either claim."""
        self.begin(data)
        topic, owner, size = self.topic(data), self.owner, data.draw(sizes, label="size")
        order = data.draw(st.sampled_from(Order), label="order")
        condition = data.draw(st.sampled_from(Condition), label="condition")
        lease = data.draw(st.sampled_from([None, HOUR]), label="lease")
        end = STAY if claim is Claim.TRANSACTION else self.end(data)
        tense = FUTURE if lease else None
        self.step(
            topic,
            end,
            lambda r, tx: r.poll_many(tx, topic, size, order=order, condition=condition, claim=claim, lease=lease),
            lambda m: m.poll(owner, topic, size, order=order, condition=condition, claim=claim, lease=tense),
        )

    # What holders do

    @precondition(lambda self: self.model.claimed or any(row.state is TaskState.ACTIVE for row in self.model.rows))
    @rule(data=st.data())
    def complete(self, data: DataObject) -> None:
        """Decide tasks, each in its own way."""
        self.begin(data)
        owner = self.owner
        topic, tasks = self.held(data)
        decided = {task: data.draw(decisions, label="decision") for task in tasks}
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.complete_many(tx, topic, {self.theirs(task): each for task, each in decided.items()}),
            lambda m: m.complete(owner, topic, decided),
        )

    @whenever(TaskState.ACTIVE)
    @rule(data=st.data())
    def give_back(self, data: DataObject) -> None:
        """Release tasks."""
        self.begin(data)
        owner = self.owner
        topic, tasks = self.held(data)
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.release(tx, topic, map(self.theirs, tasks)),
            lambda m: m.release(owner, topic, tasks),
        )

    @whenever(TaskState.ACTIVE)
    @rule(data=st.data(), extend=st.booleans())
    def keep(self, data: DataObject, extend: bool) -> None:  # noqa: FBT001 - drawn
        """Hold tasks longer, or note how far one has come."""
        self.begin(data)
        owner = self.owner
        topic, tasks = self.held(data)
        if extend:
            self.step(
                topic,
                self.end(data),
                lambda r, tx: r.extend(tx, topic, map(self.theirs, tasks), HOUR),
                lambda m: m.extend(owner, topic, tasks),
            )
        else:
            self.step(
                topic,
                self.end(data),
                lambda r, tx: r.checkpoint(tx, topic, self.theirs(tasks[0]), "halfway"),
                lambda m: m.checkpoint(owner, topic, tasks[0], "halfway"),
            )

    @whenever(TaskState.ACTIVE)
    @rule(data=st.data())
    def eject(self, data: DataObject) -> None:
        """Take over a task, whoever holds it."""
        self.begin(data)
        owner = self.owner
        topic, [task, *_] = self.those_in(data, {TaskState.ACTIVE})
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.eject(tx, topic, self.theirs(task)),
            lambda m: m.eject(owner, topic, task),
        )

    # What time does

    @whenever(TaskState.ACTIVE)
    @rule(data=st.data(), dead=st.sampled_from([None, *OWNERS]), leases_end=st.booleans())
    def expire(self, data: DataObject, dead: str | None, leases_end: bool) -> None:  # noqa: FBT001 - drawn
        """Expire, perhaps after an owner has died or all leases have ended."""
        if dead:
            self.stop_beating(dead)
        self.begin(data)
        owner = self.owner
        if leases_end:
            self.pass_time("lease", self.model.rows)
        self.step("", self.end(data), lambda r, tx: r.expire(tx, STALE), lambda m: m.expire(owner))

    @whenever(TaskState.SUSPENDED)
    @rule(data=st.data(), due=st.booleans())
    def promote(self, data: DataObject, due: bool) -> None:  # noqa: FBT001 - drawn
        """Promote, perhaps after all due times have come."""
        self.begin(data)
        topic = self.topic(data)
        if due:
            self.pass_time("due", self.model.rows)
        self.step(topic, self.end(data), lambda r, tx: r.promote(tx, topic), lambda m: m.promote(topic))

    def pass_time(self, column: str, rows: Iterable[Row]) -> None:
        """Let all due times come, or all leases end."""
        execute(self.transaction, f"UPDATE task SET {column} = created WHERE {column} IS NOT NULL")  # noqa: S608
        for row in rows:
            if getattr(row, column):
                setattr(row, column, PAST)

    def stop_beating(self, owner: str) -> None:
        """An owner has not been heard of for an hour."""
        if self.saved is not None:
            self.finish(COMMIT)
        self.backend.age_owner(owner, 3600)
        self.model.beating[owner] = False

    @precondition(lambda self: not self.model.claimed and not all(self.model.beating.values()))
    @rule(data=st.data(), action=st.sampled_from(["heartbeat", "register", "purge"]))
    def wake(self, data: DataObject, action: str) -> None:
        """A dead owner is heard of again, or forgotten."""
        self.begin(data)
        owner = self.owner
        if action == "purge":
            self.step("", STAY, lambda r, tx: r.purge_owners(tx, STALE), lambda m: m.purge_owners(owner))
            for name in [name for name in OWNERS if name not in self.model.beating]:
                # Back at once, so that everybody may poll.
                assert self.repositories[name].register(self.transaction)
                self.model.beating[name] = True
            self.finish(self.end(data))
            return
        self.model.beating[owner] = True
        self.step("", self.end(data), lambda r, tx: bool(getattr(r, action)(tx)), lambda _: False)

    # What operators do

    @whenever(*REVIVABLE)
    @rule(data=st.data(), revivification=st.sampled_from(Revivification))
    def revive(self, data: DataObject, revivification: Revivification) -> None:
        """Revive named tasks."""
        self.begin(data)
        topic, tasks = self.those_in(data, REVIVABLE)
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.recreate(tx, topic, revivification, map(self.theirs, tasks)),
            lambda m: m.recreate(topic, revivification, tasks),
        )

    @whenever(*REVIVABLE)
    @rule(data=st.data(), revivification=st.sampled_from(Revivification), size=sizes)
    def revive_state(self, data: DataObject, revivification: Revivification, size: int) -> None:
        """Revive the first tasks in some state."""
        self.begin(data)
        topic = self.topic(data)
        state = self.state(data, topic)
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.recreate_state(tx, topic, revivification, state, size=size),
            lambda m: m.recreate_state(topic, revivification, state, size),
        )

    @whenever(*REVIVABLE)
    @rule(data=st.data())
    def reassign(self, data: DataObject) -> None:
        """Give named tasks other results."""
        self.begin(data)
        topic, tasks = self.those_in(data, REVIVABLE)
        results = {task: data.draw(st.sampled_from(TaskResult), label="result") for task in tasks}
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.reassign(tx, topic, {self.theirs(task): each for task, each in results.items()}),
            lambda m: m.reassign(topic, results),
        )

    @whenever(*REVIVABLE)
    @rule(data=st.data(), result=st.sampled_from(TaskResult))
    def reassign_all(self, data: DataObject, result: TaskResult) -> None:
        """Give all tasks in some state another result."""
        self.begin(data)
        topic = self.topic(data)
        state = self.state(data, topic)
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.reassign_all(tx, topic, state, result),
            lambda m: m.reassign_all(topic, state, result),
        )

    @whenever(TaskState.SUSPENDED)
    @rule(data=st.data(), joined=groups, junction=st.sampled_from(Junction))
    def join(self, data: DataObject, joined: list[set[str]], junction: Junction) -> None:
        """Release complete groups."""
        self.begin(data)
        topic = self.topic(data)
        suspended = sorted({row.identifier for row in self.model.of(topic, TaskState.SUSPENDED)})
        together = [*joined, set(suspended[:2])]
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.junction(tx, topic, together, junction=junction),
            lambda m: m.junction(topic, [group for group in together if group], junction),
        )

    @whenever(*FINISHED)
    @rule(data=st.data(), states=purged)
    def purge(self, data: DataObject, states: set[TaskState]) -> None:
        """Delete tasks in some states, or everything."""
        self.begin(data)
        topic = self.topic(data)
        if states:
            self.step(
                topic,
                self.end(data),
                lambda r, tx: r.purge(tx, topic, states=states),
                lambda m: m.purge(topic, states),
            )
        else:
            self.step(topic, self.end(data), lambda r, tx: r.purge_all(tx, topic), lambda m: m.purge_all(topic))

    # What can be seen through filters

    @rule(
        data=st.data(),
        state=st.sampled_from([None, *TaskState]),
        identifier=st.none() | identifiers,
        reference=st.sampled_from([None, "x"]),
    )
    def look(self, data: DataObject, state: TaskState | None, identifier: str | None, reference: str | None) -> None:
        """Counts and pages that are filtered, single tasks, the next due time."""
        self.begin(data)
        topic = self.topic(data)
        counting, listing = Counting(topic, state, reference, identifier), Listing(state, reference, identifier)
        for snapshot in Snapshot:
            counted = self.repositories[self.owner].count(self.transaction, snapshot, counting)
            assert self.translate(counted) == self.model.count(snapshot, counting)
        self.turn_pages(data, topic, listing)
        for task in self.model.of(topic)[-2:]:
            for name in TOPICS:
                found = self.repositories[self.owner].task(self.transaction, name, self.real[task.sequence])
                assert (found is not None) == (name == topic)
        due = [row for row in self.model.of(topic, TaskState.SUSPENDED) if row.due]
        next_due = self.repositories[self.owner].next_due(self.transaction, topic)
        assert (next_due is not None) == bool(due)
        self.finish(self.end(data))

    def turn_pages(self, data: DataObject, topic: str, listing: Listing) -> None:
        """Page through a topic, in either direction from the start to the end."""
        direction = data.draw(st.sampled_from(Direction), label="direction")
        size = data.draw(sizes, label="size")
        start, seen = None, []
        while page := self.repositories[self.owner].page(
            self.transaction, topic, start=start, size=size, direction=direction, listing=listing
        ):
            assert len(page) <= size
            start = page[-1].sequence
            seen += [self.known[info.sequence] for info in page]
        rows = self.model.of(topic)[:: 1 if direction is Direction.FORWARD else -1]
        assert seen == [
            row.sequence
            for row in rows
            if listing.state in {None, row.state}
            and listing.identifier in {None, row.identifier}
            and listing.reference in {None, row.reference}
        ]
