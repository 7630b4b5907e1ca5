"""Workers that pause until somebody wakes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.steps import push
from tests.fleet import audit, effects
from tests.fleet.assignment import Assignment
from tests.fleet.crew import eventually

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.fleet.crew import Crew

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.timeout(300)]
HOUR = 3600.0
LISTENING = "SELECT pid FROM pg_stat_activity WHERE application_name = 'fleet' AND query LIKE 'LISTEN%'"


def test_an_idle_worker_begins_when_a_task_is_pushed(
    backend: Backend, repository: TaskRepository[Any], topic: str, crew: Crew
) -> None:
    """It polls once an hour, and the notifier wakes it each time (PN-09)."""
    backend.sql(effects.CREATE)
    hand = crew.hire(Assignment("idle", backend.url, pause=HOUR, notified=True))
    for number in range(5):
        # What earlier tasks made it look for is over: only the push can wake it. (Its start may do so for the first.)
        hand.rests(number)
        push(backend, repository, topic, str(number))
    hand.rests(5)
    assert hand.end() == 0
    audit.exactly_once(backend, 5)


@pytest.mark.backends("postgresql")
def test_a_worker_that_was_cut_off_misses_nothing(
    backend: Backend, repository: TaskRepository[Any], topic: str, crew: Crew
) -> None:
    """What was pushed while it could not hear is found as soon as it can (PN-B5)."""
    backend.sql(effects.CREATE)
    url = f"{backend.url}{'&' if '?' in backend.url else '?'}application_name=fleet"
    hand = crew.hire(Assignment("idle", url, pause=HOUR, notified=True))
    hand.expect("empty")
    for number in range(1, 4):
        eventually(lambda: bool(backend.sql(LISTENING)), hand.diary)
        backend.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fleet'")
        push(backend, repository, topic, str(number))
        audit.drained(backend, hand)
    assert hand.end() == 0
    audit.exactly_once(backend, 3)
