"""Workers killed in the midst of their work: nothing is lost, and nothing is done twice (P1, P2)."""

from __future__ import annotations

import sqlite3
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, TaskRepository, TaskState
from tests.backends.steps import push
from tests.fleet import audit, effects
from tests.fleet.assignment import Assignment, Stall
from tests.fleet.crew import eventually

if TYPE_CHECKING:
    from tests.backends import Backend
    from tests.fleet.crew import Crew

NUMBER = 20_000
SOME = 200
pytestmark = [pytest.mark.kinds("driver"), pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("claim", "ahead"),
    [(Claim.COMMITTED, 0), (Claim.COMMITTED, 2), (Claim.TRANSACTION, 0), (Claim.TRANSACTION, 2)],
    ids=["committed", "committed-ahead", "transaction", "transaction-ahead"],
)
def test_killed_workers_lose_nothing(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, crew: Crew, claim: Claim, ahead: int
) -> None:
    """Of four workers two are killed and restarted; each of 20,000 tasks is decided once (P1, P2, OW-05)."""
    backend.sql(effects.CREATE)
    left = deque(map(str, range(NUMBER)))

    def feed(number: int) -> None:
        push(backend, repository, topic, *islice(left, number))
        for _ in range(min(number, len(left))):
            left.popleft()

    def stalled() -> bool:
        if any(hand.heard("stalled") for hand in doomed):
            return True
        if not audit.states(backend)[TaskState.READY]:
            # Whoever is late finds something to do all the same; who stalls now may keep us from it.
            with suppress(sqlite3.OperationalError):
                feed(SOME)
        return False

    feed(NUMBER // 2)
    common: dict[str, Any] = {"url": backend.url, "topic": topic, "claim": claim, "ahead": ahead}
    doomed = [
        crew.hire(Assignment("doomed-0", stall=Stall.HALF, **common)),
        crew.hire(Assignment("doomed-1", stall=Stall.CLAIMED, whole=True, **common)),
    ]
    others = [
        crew.hire(Assignment("other-2", **common)),
        crew.hire(Assignment("other-3", whole=True, **common)),
    ]
    held = []
    while doomed:
        # On SQLite one may keep the other from coming that far.
        eventually(stalled, lambda: "\n".join(hand.diary() for hand in doomed))
        hand = next(hand for hand in doomed if hand.heard("stalled"))
        tasks = hand.expect("stalled")
        audit.held(backend, hand, tasks, claim)
        hand.kill()
        doomed.remove(hand)
        held += tasks
    # One comes back under its old name, the other under a new one, as owners do that were given none.
    again = [
        crew.hire(Assignment("doomed-0", **common)),
        crew.hire(Assignment("reborn-1", whole=True, **common)),
    ]
    feed(NUMBER)
    audit.drained(backend, *others, *again)
    assert [hand.end() for hand in (*others, *again)] == [0] * 4
    audit.exactly_once(backend, NUMBER)
    attempts = dict(backend.sql("SELECT sequence, attempt FROM effect"))
    if claim is Claim.TRANSACTION:
        # A crash frees what a transaction holds, as if it had never been tried, and so what waited for its turn.
        assert set(attempts.values()) == {1}
    else:
        assert min(attempts[sequence] for sequence in held) > 1
