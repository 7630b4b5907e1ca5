"""The view for people with a SQL prompt (section 14 of BEHAVIOURS.md)."""

import sqlalchemy

from task_api import REVIVABLE, Revivification, TaskDecision, TaskState
from tests.backends import Backend
from tests.backends.steps import complete, poll, push
from tests.conformance.scenes import Repository, one_of_each, run

TASK_COLUMNS = {
    *("topic", "sequence", "identifier", "state", "descent", "owner", "attempt", "token", "created"),
    *("polled", "completed", "due", "lease", "origin", "reference", "input", "output"),
}


def test_the_view_has_the_columns_of_a_task(backend: Backend) -> None:
    """All of them, owner, reference and descent included, and the flag (PV-01, PV-B3)."""
    columns = {column["name"] for column in sqlalchemy.inspect(backend.engine).get_columns("task_pretty")}

    assert columns == TASK_COLUMNS | {"recreated"}


def test_a_ready_task_is_readable(backend: Backend, repository: Repository, topic: str) -> None:
    """Its state shows by name, with its input as it was pushed (PV-01)."""
    push(backend, repository, topic, "a", input='{"amount": 7}', reference="batch 7")

    shown = backend.sql("SELECT topic, identifier, state, descent, recreated, input, reference FROM task_pretty")

    assert shown == [(topic, "a", "READY", "READY", "NO", '{"amount": 7}', "batch 7")]


def test_a_decided_task_is_readable(backend: Backend, repository: Repository, topic: str) -> None:
    """Owner, output, times and numbers are there (PV-01, PV-B3)."""
    push(backend, repository, topic, "a")
    (task,) = poll(backend, repository, topic)
    complete(backend, repository, topic, task, TaskDecision.failure("boom"))

    shown = backend.sql(
        "SELECT sequence, state, owner, attempt, output FROM task_pretty"
        " WHERE created <= polled AND polled <= completed"
    )

    assert shown == [(task.sequence, "FAILED", "me", 1, "boom")]


def test_every_state_has_its_name(backend: Backend, repository: Repository, topic: str) -> None:
    """Only RECREATED rows say YES, and their state column shows what they were (PV-03, PV-B1)."""
    tasks = one_of_each(backend, repository, topic)

    shown = dict(backend.sql("SELECT sequence, state || ' ' || recreated FROM task_pretty"))

    expected = {task.sequence: f"{state.name} NO" for state, task in tasks.items()}
    expected[tasks[TaskState.RECREATED].sequence] = "SUCCEEDED YES"
    assert {sequence: shown[sequence] for sequence in expected} == expected
    assert sum(text.endswith("YES") for text in shown.values()) == 1


def test_recreated_rows_show_where_they_came_from(backend: Backend, repository: Repository, topic: str) -> None:
    """Each descent has its name, EXPIRED too (PV-03, PV-B2)."""
    sources = one_of_each(backend, repository, topic, sorted(REVIVABLE))
    run(backend, repository.recreate, topic, Revivification.APPEND, sources.values())

    shown = backend.sql("SELECT state, descent FROM task_pretty WHERE recreated = 'YES' ORDER BY sequence")

    assert shown == [(state.name, state.name) for state in sources]
