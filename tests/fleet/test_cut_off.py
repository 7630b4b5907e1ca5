"""Workers whose connections are cut again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from task_api import Claim, TaskRepository
from tests.backends.steps import push
from tests.fleet import audit, effects
from tests.fleet.assignment import Assignment
from tests.fleet.crew import eventually

if TYPE_CHECKING:
    from tests.backends import Backend
    from tests.fleet.crew import Crew

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver"), pytest.mark.timeout(300)]
NUMBER = 8_000
CUTS = 8

_CUT = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'fleet'
"""


@pytest.mark.parametrize("claim", Claim)
def test_workers_whose_connections_are_cut_go_on(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, crew: Crew, claim: Claim
) -> None:
    """All sessions are ended again and again under load; each task is decided once (P1, P2, TM-21)."""
    backend.sql(effects.CREATE)
    push(backend, repository, topic, *map(str, range(NUMBER)))
    url = f"{backend.url}{'&' if '?' in backend.url else '?'}application_name=fleet"
    hands = [
        crew.hire(Assignment(f"hand-{index}", url, claim=claim, whole=index == 2, notified=True)) for index in range(3)
    ]

    def done() -> int:
        return int(backend.sql("SELECT count(*) FROM effect")[0][0])

    with psycopg.connect(backend.dsn, autocommit=True) as connection:
        for turn in range(CUTS):
            goal = (turn + 1) * NUMBER // (CUTS + 2)
            eventually(lambda goal=goal: done() >= goal, lambda: "\n".join(hand.diary() for hand in hands))  # type: ignore[misc]
            assert connection.execute(_CUT).fetchall() != [(0,)]
    audit.drained(backend, *hands)
    assert [hand.end() for hand in hands] == [0] * 3
    audit.exactly_once(backend, NUMBER)
