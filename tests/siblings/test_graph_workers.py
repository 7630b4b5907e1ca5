"""Worker processes on a random graph: no task before those that it waits for, and each exactly once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, TaskCreation, TaskGraph
from tests.fleet import audit
from tests.fleet.assignment import Assignment
from tests.fleet.crew import Crew, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from task_api import Task, TaskRepository
    from tests.backends import Backend

WORKERS = 8
REACH = 300
"""How far back a task may wait for others."""
CHUNK = 500
"""How many are pushed at once."""
_PLACE = {"postgresql": "bigserial", "sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT"}
_EFFECT = "CREATE TABLE effect (place {place}, sequence bigint, identifier text, owner text, attempt integer)"
# The number is drawn when the work writes its row, after the task was claimed and before it is decided.
_TOO_EARLY = """
SELECT count(*), sum(CASE WHEN b.place < a.place THEN 0 ELSE 1 END)
FROM task_dependency d JOIN effect b ON b.sequence = d.after_sequence JOIN effect a ON a.sequence = d.run_sequence
"""


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    """The processes of the test."""
    crew = Crew(tmp_path)
    yield crew
    crew.dismiss()


def _waits(number: int) -> list[list[int]]:
    """Whom each task waits for: some of those shortly before it."""
    chance = random.Random(number)  # noqa: S311 - a test
    waits = []
    for place in range(number):
        nearby = range(max(0, place - REACH), place)
        waits.append(chance.sample(nearby, min(len(nearby), chance.choice([0, 1, 2, 2, 3, 5]))))
    return waits


def _push_chunk(
    backend: Backend, repository: TaskRepository[Any], topic: str, tasks: list[Task], waits: list[list[int]]
) -> None:
    """Push further tasks in one call, which wait for each other and for those that are there."""
    there = len(tasks)
    creations = tuple(
        TaskCreation(str(there + place), after=tuple(tasks[after] for after in others if after < there))
        for place, others in enumerate(waits)
    )
    links = tuple((place, after - there) for place, others in enumerate(waits) for after in others if after >= there)
    with backend.begin() as tx:
        tasks += repository.push_graph(tx, topic, TaskGraph(creations, links, (), ()))


@pytest.mark.kinds("driver")
@pytest.mark.timeout(300)
def test_workers_keep_the_order_of_a_random_graph(
    backend: Backend, repository: TaskRepository[Any], topic: str, crew: Crew
) -> None:
    """Eight of them on 10,000 tasks, of which half are pushed while they work (P1, P2, P6, S1-05, S1-14, S1-22)."""
    number = 10_000 if backend.name == "postgresql" else 1_500
    half = number // 2
    backend.sql(_EFFECT.format(place=_PLACE[backend.name]))
    waits = _waits(number)
    tasks: list[Task] = []
    _push_chunk(backend, repository, topic, tasks, waits[:half])

    claims = list(Claim) * (WORKERS // len(Claim))
    hands = [
        crew.hire(
            Assignment(
                f"worker-{index}",
                backend.url,
                topic=topic,
                claim=claim,
                whole=index % 3 == 0,
                size=20,
                expiry=60.0,
                notified=True,
            )
        )
        for index, claim in enumerate(claims)
    ]
    eventually(lambda: any(hand.heard("decided") for hand in hands), lambda: [hand.diary() for hand in hands])
    for start in range(half, number, CHUNK):
        _push_chunk(backend, repository, topic, tasks, waits[start : start + CHUNK])

    audit.drained(backend, *hands)
    assert [hand.end() for hand in hands] == [0] * WORKERS
    audit.exactly_once(backend, number)
    assert backend.sql(_TOO_EARLY) == [(sum(map(len, waits)), 0)]
