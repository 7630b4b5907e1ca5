"""What tasks are about is no matter of logs, errors and health: inputs are given to who asks for them alone."""

from __future__ import annotations

import traceback
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy.exc import SQLAlchemyError

from task_api import InvalidTaskError, LostTaskError, TaskCreation, TaskDecision, TaskError, UnknownTopicError
from task_processor import RetryPolicy, TaskManager, Worker, each
from tests.backends.steps import poll, push
from tests.console.calls import Topiq, invoke
from tests.processor.support import BRISK, Recorder, eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from task_api import Task, TaskRepository
    from tests.backends import Backend

PAYLOAD = "p4yl04d"
OURS = ("task_api", "task_sql", "task_processor", "task_console", "topiq")
MOMENT = timedelta(milliseconds=20)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Everything that we log, and what others warn of."""
    for name in OURS:
        caplog.set_level("DEBUG", name)
    return caplog


@pytest.mark.kinds("connection")
@pytest.mark.backends("sqlite", "postgresql")
def test_a_worker_logs_no_input(
    backend: Backend, repository: TaskRepository[Any], topic: str, log: pytest.LogCaptureFixture
) -> None:
    """Of tasks that succeed, fail, are retried, are lost, and were left by a dead owner."""
    ghost = backend.repository("ghost")
    push(backend, repository, topic, "left", input=PAYLOAD)
    poll(backend, ghost, topic)
    backend.age_owner("ghost", 3600)
    push(backend, repository, topic, "good", "bad", "flaky", "lost", input=PAYLOAD)

    def work(task: Task) -> TaskDecision | None:
        assert task.input == PAYLOAD
        if task.identifier == "bad":
            message = "it broke"
            raise ValueError(message)
        if task.identifier == "flaky" and task.attempt == 1:
            return TaskDecision.retry(MOMENT, "again")
        if task.identifier == "lost" and task.attempt == 1:
            with backend.begin() as tx:
                repository.eject(tx, topic, task, lease=timedelta(0))
        return None

    recorder = Recorder()
    manager = TaskManager(
        topic, repository, backend.begin, each(work), size=1, pause=MOMENT, listener=recorder, retry=RetryPolicy(2)
    )
    with Worker(repository, backend.begin, [manager], expiry=timedelta(minutes=1), **BRISK) as worker:
        recorder.wait("lost")
        eventually(lambda: worker.health.topics[topic].completed >= 6)
        health = worker.health
    assert "worker me runs" in log.text
    assert PAYLOAD not in log.text
    assert PAYLOAD not in repr(health)


@pytest.mark.parametrize(
    "call",
    [
        lambda: TaskCreation("a", PAYLOAD.encode()),  # type: ignore[arg-type]
        lambda: TaskCreation("a", {"card": PAYLOAD}),  # type: ignore[arg-type]
        lambda: TaskDecision.failure({"card": PAYLOAD}),  # type: ignore[arg-type]
    ],
    ids=["bytes", "dict", "message"],
)
def test_a_refused_input_is_not_repeated(call: Callable[[], object]) -> None:
    """The error tells its type."""
    with pytest.raises(InvalidTaskError) as caught:
        call()
    assert PAYLOAD not in "".join(traceback.format_exception(caught.value))


@pytest.mark.kinds("connection", "driver")
@pytest.mark.backends("sqlite", "postgresql")
def test_errors_about_tasks_name_them_without_their_inputs(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """By identifier and sequence."""
    (task,) = push(backend, repository, topic, "a", input=PAYLOAD)
    (held,) = poll(backend, repository, topic)
    assert held.input == PAYLOAD
    other = backend.repository("other")
    calls: list[tuple[type[TaskError], Callable[[Any], object]]] = [
        (LostTaskError, lambda tx: other.complete(tx, topic, held)),
        (UnknownTopicError, lambda tx: repository.push(tx, "none", TaskCreation("a", PAYLOAD))),
        (TaskError, lambda tx: repository.reassign(tx, topic, {task: TaskDecision.SUCCESS.result})),
    ]
    for kind, call in calls:
        with backend.begin() as tx, pytest.raises(kind) as caught:
            call(tx)
        assert PAYLOAD not in f"{caught.value} {caught.value!r}"


@pytest.mark.kinds("connection", "session")
@pytest.mark.backends("sqlite", "postgresql")
def test_what_sqlalchemy_says_of_our_statements_has_no_parameters(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """A statement that fails is shown without the inputs and outputs that it was to store."""
    backend.sql("DROP VIEW task_pretty")
    backend.sql("ALTER TABLE task RENAME COLUMN input TO other")
    with pytest.raises((TaskError, SQLAlchemyError)) as caught, backend.begin() as tx:
        repository.push(tx, topic, TaskCreation("a", PAYLOAD))
    text = "".join(traceback.format_exception(caught.value))
    assert "INSERT INTO task" in text
    assert PAYLOAD not in text


@pytest.mark.parametrize(
    "line",
    [
        f'{{"identifier": "a", "input": {PAYLOAD}}}',
        f'{{"identifier": "a", "input": "{PAYLOAD}", "due": "never"}}',
        f'{{"identifier": 5, "input": "{PAYLOAD}"}}',
    ],
    ids=["no JSON", "due", "identifier"],
)
@pytest.mark.kinds("connection")
@pytest.mark.backends("sqlite")
def test_a_file_with_a_mistake_is_not_repeated(backend: Backend, topic: str, tmp_path: Path, line: str) -> None:
    """The command tells the line's number, not what is in it."""
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{line}\n")
    result = invoke("push", topic, "--from-file", path, url=Topiq(backend).url)
    assert result.exit_code != 0
    assert "line 1" in result.output
    assert PAYLOAD not in result.output
