"""Workers that are asked to end, or frozen, in the midst of their work."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, TaskRepository, TaskState
from tests.backends.steps import push
from tests.fleet import audit, effects
from tests.fleet.assignment import Assignment, Stall
from tests.fleet.crew import eventually

if TYPE_CHECKING:
    from tests.backends import Backend
    from tests.fleet.crew import Crew, Hand

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.timeout(300)]
claims = pytest.mark.parametrize("claim", Claim)
NUMBER = 300


def ask_to_end(hand: Hand) -> None:
    """Send SIGTERM and wait until it was heard."""
    hand.send(signal.SIGTERM)
    eventually(lambda: "stopping" in hand.diary(), hand.diary)


def found(backend: Backend, tasks: list[int]) -> set[tuple[TaskState, int]]:
    """The states and attempts of these tasks."""
    rows = backend.sql("SELECT sequence, state, attempt FROM task")
    return {(TaskState(state), attempt) for sequence, state, attempt in rows if sequence in tasks}


@claims
@pytest.mark.parametrize("stall", Stall)
def test_a_worker_that_ends_finishes_what_it_has_begun(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, crew: Crew, claim: Claim, stall: Stall
) -> None:
    """SIGTERM in mid-work: the batch is decided, no other is polled, exit code 0 (P1, TM-03)."""
    backend.sql(effects.CREATE)
    push(backend, repository, topic, *map(str, range(NUMBER)))
    hand = crew.hire(Assignment("one", backend.url, claim=claim, stall=stall, after=1))
    tasks = hand.expect("stalled")
    ask_to_end(hand)
    audit.held(backend, hand, tasks, claim)
    hand.go_on()
    assert hand.wait() == 0
    assert found(backend, tasks) == {(TaskState.SUCCEEDED, 1)}
    assert audit.states(backend) == {TaskState.SUCCEEDED: 200, TaskState.READY: 100}
    assert backend.sql("SELECT count(*), count(DISTINCT sequence) FROM effect") == [(200, 200)]


@pytest.mark.parametrize(
    ("claim", "hurry"),
    [(Claim.COMMITTED, False), (Claim.COMMITTED, True), (Claim.TRANSACTION, False)],
    ids=["committed", "committed-in-a-hurry", "transaction"],
)
def test_a_worker_that_ends_gives_back_what_it_can_not_finish(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    *,
    crew: Crew,
    claim: Claim,
    hurry: bool,
) -> None:
    """After the grace, or a second signal, its tasks are READY, the attempt not counted; exit code 0 (P1, DESIGN 5)."""
    backend.sql(effects.CREATE)
    push(backend, repository, topic, *map(str, range(NUMBER)))
    grace = 1000 if hurry else 0.5
    hand = crew.hire(Assignment("one", backend.url, claim=claim, stall=Stall.CLAIMED, after=1, grace=grace))
    tasks = hand.expect("stalled")
    ask_to_end(hand)
    if hurry:
        hand.send(signal.SIGTERM)
    assert hand.wait() == 0
    assert found(backend, tasks) == {(TaskState.READY, 0)}
    assert audit.states(backend) == {TaskState.SUCCEEDED: 100, TaskState.READY: 200}
    # Nothing is in the way of the next one.
    other = crew.hire(Assignment("other", backend.url, claim=claim))
    audit.drained(backend, other)
    assert other.end() == 0
    audit.exactly_once(backend, NUMBER)


def test_a_worker_that_was_frozen_decides_nothing_that_others_took(
    backend: Backend, repository: TaskRepository[Any], topic: str, crew: Crew
) -> None:
    """Stopped past its expiry and continued, it loses what it held and works on (P2, OW-05)."""
    freeze(backend, repository, topic, crew, Stall.CLAIMED)


@pytest.mark.backends("postgresql")
def test_effects_of_a_worker_that_was_frozen_are_undone(
    backend: Backend, repository: TaskRepository[Any], topic: str, crew: Crew
) -> None:
    """What it had written in the transaction that was to decide its tasks is rolled back (P2)."""
    # On SQLite its open transaction would keep all others from writing.
    freeze(backend, repository, topic, crew, Stall.HALF)


def freeze(backend: Backend, repository: TaskRepository[Any], topic: str, crew: Crew, stall: Stall) -> None:
    """Stop a worker until another one has done all of its tasks, and let it go on."""
    backend.sql(effects.CREATE)
    push(backend, repository, topic, *map(str, range(NUMBER)))
    frozen = crew.hire(Assignment("frozen", backend.url, stall=stall, after=1))
    tasks = frozen.expect("stalled")
    audit.held(backend, frozen, tasks, Claim.COMMITTED)
    # Whoever writes to SQLite is alone, and would keep all others from it while he is frozen: so that is the test here.
    with backend.engine.begin():
        frozen.freeze()
    other = crew.hire(Assignment("other", backend.url))
    audit.drained(backend, other)
    assert other.end() == 0
    frozen.go_on()
    frozen.send(signal.SIGCONT)
    assert frozen.expect("lost") == tasks
    audit.exactly_once(backend, NUMBER)
    push(backend, repository, topic, *map(str, range(NUMBER)))
    audit.drained(backend, frozen)
    assert frozen.end() == 0
    audit.exactly_once(backend, 2 * NUMBER)
