"""A topic that comes and goes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.steps import push
from tests.fire.faults import FAULTS

if TYPE_CHECKING:
    from random import Random

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.fire.faults.stage import Stage


@pytest.mark.backends("sqlite", "postgresql")
@pytest.mark.kinds("driver", "plain")
def test_a_topic_lives_and_dies(
    backend: Backend, repository: TaskRepository[Any], topic: str, stage: Stage, chance: Random
) -> None:
    """Used and gone without a trace; what is in others stays."""
    push(backend, repository, topic, "a", "b")
    stage.database, stage.admin_url = backend.name, backend.url
    said = FAULTS["topic"].strike(stage, chance)
    [pushed, decided, _] = map(int, re.findall(r"(\d+) (?:pushed|decided|purged)", said))
    assert pushed > 0 < decided
    with backend.begin() as tx:
        assert repository.topics(tx) == {topic}
    assert backend.sql("SELECT count(*) FROM task") == [(2,)]
