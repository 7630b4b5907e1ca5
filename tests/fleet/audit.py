"""What must hold in the end, whatever happened on the way."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from task_api import Claim, TaskState
from tests.fleet.crew import eventually

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.backends import Backend
    from tests.fleet.crew import Hand

_LEFT_OPEN = """
SELECT application_name, state, query FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
"""


def states(backend: Backend) -> Counter[TaskState]:
    """How many tasks are in each state."""
    rows = backend.sql("SELECT state, count(*) FROM task GROUP BY state")
    return Counter({TaskState(state): number for state, number in rows})


def held(backend: Backend, hand: Hand, tasks: Sequence[int], claim: Claim) -> None:
    """Insist that a member is in the midst of its work on these tasks."""
    assert tasks
    found = {
        sequence: (TaskState(state), owner)
        for sequence, state, owner in backend.sql("SELECT sequence, state, owner FROM task")
    }
    expected = (TaskState.ACTIVE, hand.owner) if claim is Claim.COMMITTED else (TaskState.READY, None)
    assert {found[sequence] for sequence in tasks} == {expected}
    done = {sequence for (sequence,) in backend.sql("SELECT sequence FROM effect")}
    assert done.isdisjoint(tasks)


def drained(backend: Backend, *hands: Hand) -> None:
    """Wait until every task is decided, or say where the members were by then."""
    open_states = {TaskState.READY, TaskState.ACTIVE, TaskState.EXPIRED, TaskState.SUSPENDED}
    eventually(
        lambda: not open_states & states(backend).keys(),
        lambda: "\n".join(
            [f"never finished: {states(backend)}", *(f"{hand.owner}:\n{hand.diary()}" for hand in hands)]
        ),
    )


def exactly_once(backend: Backend, number: int) -> None:
    """Insist that all tasks succeeded, each with one effect, and that nobody holds a transaction."""
    assert states(backend) == {TaskState.SUCCEEDED: number}, _unsuccessful(backend)
    assert backend.sql("SELECT sequence, count(*) FROM effect GROUP BY sequence HAVING count(*) <> 1") == []
    assert backend.sql("SELECT count(*) FROM effect") == [(number,)]
    assert backend.sql("SELECT t.sequence FROM task t WHERE sequence NOT IN (SELECT sequence FROM effect)") == []
    # The effect was written by the one attempt that decided the task.
    assert (
        backend.sql(
            "SELECT t.sequence, t.owner, e.owner FROM task t JOIN effect e ON e.sequence = t.sequence "
            "WHERE t.owner <> e.owner OR t.attempt <> e.attempt"
        )
        == []
    )
    if backend.name == "postgresql":
        # A worker that lives may be between two statements; one moment without any is enough.
        eventually(lambda: backend.sql(_LEFT_OPEN) == [], lambda: backend.sql(_LEFT_OPEN))


def _unsuccessful(backend: Backend) -> str:
    rows = backend.sql("SELECT state, output, count(*) FROM task WHERE state <> 6 GROUP BY state, output ORDER BY 3")
    return "\n".join(f"{number} {TaskState(state).name}: {output}" for state, output, number in rows)
