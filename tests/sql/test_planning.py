"""What is done all the time on PostgreSQL is planned once where there is one partition, not each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Condition, TaskCreation, TaskDecision

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]

IDENTIFIERS = 20
ROUNDS = 30
TRIALS = 5
"""So often PostgreSQL plans for the values that are given, before it compares."""


@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize("condition", [Condition.NONE, Condition.SINGULAR_BY_IDENTIFIER])
def test_polls_and_decisions_are_planned_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, condition: Condition, claim: Claim
) -> None:
    """Whatever the bounds, the identifiers and the numbers are (DESIGN 4)."""
    creations = [TaskCreation(f"hot {index % IDENTIFIERS}") for index in range(IDENTIFIERS * ROUNDS)]
    with backend.connect() as connection:
        repository.push_many(connection, topic, creations)
        connection.commit()
        for _ in range(ROUNDS):
            tasks = repository.poll_many(connection, topic, IDENTIFIERS + 1, condition=condition, claim=claim)
            if claim is Claim.COMMITTED:
                connection.commit()
            repository.complete_many(connection, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))
            connection.commit()
        planned = connection.execute(
            "SELECT statement, custom_plans, generic_plans FROM pg_prepared_statements"
        ).fetchall()

    assert any(generic >= ROUNDS / 3 for _, _, generic in planned)
    assert [statement for statement, custom, _ in planned if custom > TRIALS] == []
