"""What is done all the time on PostgreSQL is planned once, not each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Condition, Order, TaskCreation, TaskDecision

if TYPE_CHECKING:
    import psycopg

    from task_api import TaskRepository
    from tests.backends import Backend

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]

IDENTIFIERS = 20
ROUNDS = 30
TRIALS = 5
"""So often PostgreSQL plans for the values that are given, before it compares."""

_LOCKED = """
SELECT DISTINCT relation FROM pg_locks JOIN pg_class AS c ON c.oid = relation
WHERE pid = pg_backend_pid() AND c.relkind = 'r' AND c.relispartition
"""
_TELL_PLANS = """
LOAD 'auto_explain';
SET LOCAL auto_explain.log_min_duration = 0;
SET LOCAL auto_explain.log_nested_statements = on;
SET LOCAL auto_explain.log_level = notice;
"""


def _listened(connection: psycopg.Connection[Any]) -> list[str]:
    """The plans that the server tells from now on, without the values that they were executed with."""
    plans: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        lines = (notice.message_primary or "").splitlines()
        plans.append("\n".join(line for line in lines if not line.startswith("Query Parameters")))

    connection.add_notice_handler(hear)
    return plans


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


@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize("order", Order)
def test_polls_and_decisions_are_planned_once_for_several_topics(
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order, claim: Claim
) -> None:
    """A plan that is kept names no topic; each topic's own would be made anew at each call (DESIGN 4)."""
    with backend.begin() as tx:
        for number in range(5):
            repository.initialize(tx, f"other {number}")
    with backend.connect() as connection:
        plans = _listened(connection)
        repository.push_many(connection, topic, [f"task {number}" for number in range(3 * TRIALS)])
        for number in range(TRIALS + 1):
            if number == TRIALS:
                connection.execute(_TELL_PLANS)
            tasks = repository.poll_many(connection, topic, 2, order=order, claim=claim)
            repository.complete_many(connection, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))
        connection.rollback()

    nested = [plan for plan in plans if "of_topic" in plan]
    assert len(nested) > 2
    assert [plan for plan in nested if f"'{topic}'" in plan] == []


def test_nothing_that_is_planned_once_is_compiled(backend: Backend) -> None:
    """What looks dear to the planner would be, for a hundred times as long as it takes (DESIGN 4)."""
    settings = backend.sql("SELECT proname, array_to_string(proconfig, ' ') FROM pg_proc WHERE proname LIKE 'task_%'")
    planned = {name: given for name, given in settings if given and "plan_cache_mode" in given}
    assert {"task_poll", "task_candidates", "task_candidates_among", "task_decide", "task_decide_claimed"} <= {*planned}
    assert [name for name, given in planned.items() if "jit=off" not in given.split()] == []


@pytest.mark.parametrize(("topics", "kept"), [(30, True), (34, False)])
def test_plans_are_kept_while_topics_are_few(
    *, backend: Backend, repository: TaskRepository[Any], topic: str, topics: int, kept: bool
) -> None:
    """A poll locks what its plan is for: all partitions if it is kept, its own if it is made for it (DESIGN 4)."""
    with backend.begin() as tx:
        for number in range(topics):
            repository.initialize(tx, f"other {number}")
    with backend.connect() as connection:
        repository.push_many(connection, topic, ["task"])
        connection.commit()
        assert repository.poll_many(connection, topic, 1)
        locked = connection.execute(_LOCKED).fetchall()
        connection.rollback()

    assert len(locked) == (topics + 1 if kept else 1)


def test_plans_are_given_up_by_one_of_several(backend: Backend, repository: TaskRepository[Any]) -> None:
    """Whoever finds that there are many topics, while another one sees to it, leaves that to him (DESIGN 4)."""
    with backend.begin() as tx:
        for number in range(33):
            repository.initialize(tx, f"topic {number}")
    backend.sql("ALTER FUNCTION task_probe(text, bigint) SET plan_cache_mode = force_generic_plan")
    with backend.connect() as one, backend.connect() as two:
        assert repository.initialize(one, "topic 1") is False
        assert repository.initialize(two, "topic 2") is False
        two.commit()
        one.commit()
    [(settings,)] = backend.sql("SELECT array_to_string(proconfig, ' ') FROM pg_proc WHERE proname = 'task_probe'")
    assert "force_custom_plan" in settings


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize("condition", [Condition.NONE, Condition.SINGULAR_BY_IDENTIFIER])
@pytest.mark.parametrize("order", Order)
def test_statistics_of_an_empty_topic_do_not_mislead(  # noqa: PLR0917 - parameters and fixtures
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order, condition: Condition, claim: Claim
) -> None:
    """A topic that was empty when it was analysed, and filled since, is not read and sorted at each poll (PO-B6)."""
    with backend.connect() as connection:
        connection.autocommit = True
        connection.execute("VACUUM (ANALYZE) task")
        connection.autocommit = False
        repository.push_many(connection, topic, [f"task {number}" for number in range(20_000)])
        connection.commit()
        plans = _listened(connection)
        connection.execute(_TELL_PLANS)
        assert len(repository.poll_many(connection, topic, 2, order=order, condition=condition, claim=claim)) == 2
        connection.rollback()

    # What is read up to a limit may be sorted, not what is read to find it.
    looked = [plan.partition("Limit")[2] or plan for plan in plans if "ORDER BY" in plan]
    assert looked
    assert [plan for plan in looked if "Sort" in plan or "Bitmap" in plan or "Seq Scan on task_" in plan] == []
