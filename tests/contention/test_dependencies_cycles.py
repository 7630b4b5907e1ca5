"""Of links that would close a cycle together one is refused, however many are made at once (P7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import Dependency, DependencyCycleError, TaskState
from tests.backends.steps import push, states
from tests.conformance.waiters import ref
from tests.contention import links
from tests.contention.member import TIMEOUT, part
from tests.contention.waiters import ROUNDS, each_end, servers

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.contention.processes import Processes
    from tests.contention.threads import Actor, Threads

pytestmark = pytest.mark.kinds("driver")

READY, SUSPENDED = TaskState.READY, TaskState.SUSPENDED


def test_halves_of_a_cycle_that_come_at_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, other: str, *, crowd: Threads | Processes
) -> None:
    """Of two halves one is refused; of four quarters, too (P7, S1-B5)."""
    rounds = ROUNDS[backend.name] // 4
    names = [str(number) for number in range(2 * rounds)]
    near = [ref(task) for task in push(backend, repository, topic, *names)]
    far = [ref(task, other) for task in push(backend, repository, other, *names)]
    accepted = crowd.race(
        part("a", links.close_cycles, pairs=list(zip(near[::2], far[::2], strict=True))),
        part("b", links.close_cycles, pairs=list(zip(far[::2], near[1::2], strict=True))),
        part("c", links.close_cycles, pairs=list(zip(near[1::2], far[1::2], strict=True))),
        part("d", links.close_cycles, pairs=list(zip(far[1::2], near[::2], strict=True))),
    )
    assert [sum(quarters) for quarters in zip(*accepted, strict=True)] == [3] * rounds


@servers
@each_end
def test_the_second_half_of_a_cycle_waits_for_the_first(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor], end: str
) -> None:
    """And is refused if that is committed; its transaction stays usable (P7, S1-B5)."""
    one, two = push(backend, repository, topic, "one", "two")
    early, late = actor("me"), actor("you")
    early.run(lambda r, tx: r.depend(tx, [Dependency(ref(one), ref(two))]))
    call = late.start(lambda r, tx: r.depend(tx, [Dependency(ref(two), ref(one))]))
    assert late.waits(call)
    getattr(early, end)()
    if end == "commit":
        with pytest.raises(DependencyCycleError):
            call.result(TIMEOUT)
        assert late.run(lambda r, tx: r.predecessors(tx, ref(two))) == []
    else:
        call.result(TIMEOUT)
    late.commit()
    found = states(backend, repository, topic)
    waits = one if end == "commit" else two
    assert found == {task.sequence: SUSPENDED if task is waits else READY for task in (one, two)}
