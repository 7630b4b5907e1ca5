"""The rest of the API, for random histories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from task_api import INCEPTION, MAX_SEQUENCE, REVIVABLE, Claim, Revivification, TaskResult, TaskState
from tests.model.comparison import STAY, TOPICS
from tests.model.histories import HOUR, IDENTIFIERS, STALE, Histories, sizes, whenever
from tests.model.model import FUTURE

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

    from tests.model.model import Bounds, Model

INACTIVE = frozenset(TaskState) - {TaskState.ACTIVE}
MANY = 15
"""So many tasks are there when a topic is destroyed, or paused."""
limits = st.none() | st.sampled_from([*IDENTIFIERS, "e"])
ejected = st.sampled_from([{TaskState.ACTIVE}, {TaskState.READY}, {TaskState.ACTIVE, TaskState.READY, *REVIVABLE}])


class WholeHistories(Histories):
    """Ranges of identifiers and of sequences, single tasks, topics that come and go."""

    @rule(data=st.data(), low=limits, high=limits, claim=st.sampled_from(Claim))
    def poll_between(self, data: DataObject, low: str | None, high: str | None, claim: Claim) -> None:
        """Poll by identifier, after a look at all that are in the range."""
        self.begin(data)
        topic, owner = self.topic(data), self.owner
        lease = data.draw(st.sampled_from([None, HOUR]), label="lease")
        tense = FUTURE if lease else None
        seen = self.repositories[owner].between(self.transaction, topic, low, high)
        assert [self.known[info.sequence] for info in seen] == [
            row.sequence for row in self.model.between(topic, low, high)
        ]
        self.step(
            topic,
            STAY if claim is Claim.TRANSACTION else self.end(data),
            lambda r, tx: r.poll_between(tx, topic, low, high, lease=lease, claim=claim),
            lambda m: m.poll_between(owner, topic, low, high, lease=tense, claim=claim),
        )

    @whenever(TaskState.ACTIVE, TaskState.READY, *REVIVABLE)
    @rule(data=st.data(), states=ejected)
    def eject_from(self, data: DataObject, states: set[TaskState]) -> None:
        """Take over a task from some states."""
        self.begin(data)
        owner = self.owner
        topic, [task, *_] = self.those_in(data, states)
        lease = data.draw(st.sampled_from([None, HOUR]), label="lease")
        tense = FUTURE if lease else None
        self.step(
            topic,
            self.end(data),
            lambda r, tx: r.eject(tx, topic, self.theirs(task), states=states, lease=lease),
            lambda m: m.eject(owner, topic, task, states, tense),
        )

    @whenever(*REVIVABLE)
    @rule(data=st.data(), call=st.sampled_from(["purge", "revive", "reassign"]))
    def within(self, data: DataObject, call: str) -> None:
        """Purge, revive and reassign tasks between two sequences."""
        self.begin(data)
        topic = self.topic(data)
        state = self.state(data, topic)
        bounds, (first, last) = self.bounds(data)
        if call == "purge":
            self.step(
                topic,
                self.end(data),
                lambda r, tx: r.purge(tx, topic, states=INACTIVE, first=first, last=last),
                lambda m: m.purge(topic, INACTIVE, bounds),
            )
        elif call == "revive":
            how, size = data.draw(st.sampled_from(Revivification)), data.draw(sizes)
            self.step(
                topic,
                self.end(data),
                lambda r, tx: r.recreate_state(tx, topic, how, state, size=size, first=first, last=last),
                lambda m: m.recreate_state(topic, how, state, size, bounds),
            )
        else:
            result = data.draw(st.sampled_from(TaskResult))
            self.step(
                topic,
                self.end(data),
                lambda r, tx: r.reassign_all(tx, topic, state, result, first=first, last=last),
                lambda m: m.reassign_all(topic, state, result, bounds),
            )

    def bounds(self, data: DataObject) -> tuple[Bounds, Bounds]:
        """Two sequences of tasks that exist, as the model and as the repository knows them; or everything."""
        known = {INCEPTION: INCEPTION, MAX_SEQUENCE: MAX_SEQUENCE}
        known |= {row.sequence: self.real[row.sequence] for row in self.model.rows}
        drawn = [data.draw(st.sampled_from(sorted(known)), label="bound") for _ in range(2)]
        first, last = drawn if data.draw(st.integers(0, 7), label="reversed") == 7 else sorted(drawn)
        return (first, last), (known[first], known[last])

    @precondition(lambda self: not self.model.claimed and len(self.model.rows) > MANY)
    @rule(data=st.data(), active=st.sampled_from([None, True, False]))
    def topics_come_and_go(self, data: DataObject, active: bool | None) -> None:  # noqa: FBT001 - drawn
        """Pause or resume a topic, or destroy it and make it anew."""
        self.begin(data)
        topic = self.topic(data)

        def anew(model: Model) -> tuple[bool, bool]:
            model.purge_all(topic)
            model.activation.pop(topic, None)
            return True, True

        if active is None:
            self.step(topic, STAY, lambda r, tx: (r.destroy(tx, topic), r.initialize(tx, topic)), anew)
        else:
            self.step(
                topic,
                STAY,
                lambda r, tx: r.activate(tx, topic, active),
                lambda m: m.activation.update({topic: active}),
            )
        for name in TOPICS:
            seen = self.repositories[self.owner].activation(self.transaction, name)
            assert seen is self.model.activation.get(name)
        assert self.repositories[self.owner].topics(self.transaction) == set(TOPICS)
        self.finish(self.end(data))

    @rule(data=st.data(), decided=st.booleans())
    def singly(self, data: DataObject, decided: bool) -> None:  # noqa: FBT001 - drawn
        """The calls for one task: push, poll, complete; and who is alive."""
        self.begin(data)
        topic, owner = self.topic(data), self.owner
        name = data.draw(st.sampled_from(IDENTIFIERS), label="identifier")
        alive = self.repositories[owner].owners(self.transaction, STALE)
        assert alive == {each for each, beats in self.model.beating.items() if beats} - {owner}
        self.step(topic, STAY, lambda r, tx: r.push(tx, topic, name), lambda m: m.push_one(topic, name))
        self.step(topic, STAY, lambda r, tx: r.poll(tx, topic), lambda m: m.poll_one(owner, topic))
        held = [task for at, task in self.handles if at == topic and self.holds(self.row(task.sequence), task)]
        if decided and held:
            task = held[-1]
            self.step(
                topic,
                STAY,
                lambda r, tx: r.complete(tx, topic, self.theirs(task)),
                lambda m: m.complete_one(owner, topic, task),
            )
        self.finish(self.end(data))
