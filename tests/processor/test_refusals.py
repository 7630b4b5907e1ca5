"""The database refuses for a moment to store a decision: that is not the work's fault."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy
from sqlalchemy.orm import Session

import task_sql
from task_api import Claim, InvalidTaskError, TaskCreation, TaskRepository, TaskState
from task_processor import PersistentTaskProcessor, TaskManager, Worker, each
from tests.backends.steps import info, push
from tests.processor.support import MOMENT, PATIENCE, Recorder, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from task_api import Task
    from tests.backends import Backend, Transaction


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("driver")
@pytest.mark.parametrize("claim", Claim)
def test_a_lock_that_is_not_had_in_time_fails_no_task(
    backend: Backend, repository: TaskRepository[Any], topic: str, claim: Claim
) -> None:
    """Somebody else has locked a task that waits for the one to be decided, for longer than the session waits (P2)."""
    [task] = push(backend, repository, topic, "task")
    with backend.begin() as tx:
        [waiting] = repository.push_many(tx, topic, [TaskCreation("waiting", after=(task,))])
    tried: list[int] = []
    locked, again = threading.Event(), threading.Event()

    def work(held: Task, tx: Any) -> None:  # noqa: ANN401 - a driver's connection
        if held.sequence == task.sequence:
            tried.append(held.attempt)
            if len(tried) > 1:
                again.set()
            assert locked.wait(PATIENCE)
            tx.execute("SET LOCAL lock_timeout = '20ms'")

    manager = TaskManager(topic, repository, backend.begin, each(work), claim=claim, pause=MOMENT)
    with backend.begin() as other:
        other.execute("SELECT FROM task WHERE sequence = %s FOR UPDATE", [waiting.sequence])
        manager.start()
        locked.set()
        assert again.wait(PATIENCE)
    eventually(lambda: info(backend, repository, topic, waiting).state is TaskState.SUCCEEDED)
    manager.stop()
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED
    assert set(tried) == {1}


@pytest.mark.kinds("connection", "session")
@pytest.mark.parametrize("within", [False, True])
def test_a_pool_without_a_free_connection_fails_no_task(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, within: bool
) -> None:
    """Others may use up all connections for a while, also of a session that takes one when it needs it (TM-19, P2)."""
    [task] = push(backend, repository, topic, "task")
    taken, tried = list[sqlalchemy.Connection](), list[int]()

    class Crowded(sqlalchemy.QueuePool):
        """Has a free connection again as soon as somebody got none."""

        def connect(self) -> Any:  # noqa: ANN401 - as declared
            try:
                return super().connect()
            except sqlalchemy.exc.TimeoutError:
                taken[0].close()
                raise

    class Taking(Recorder):
        """Takes the one connection before the first decision."""

        def on_callback(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
            if not taken:
                taken.append(engine.connect())
            super().on_callback(topic, trace, tasks)

    @contextmanager
    def begin() -> Iterator[Transaction]:
        if backend.kind.value == "connection":
            with engine.begin() as connection:
                yield connection
        else:
            with Session(engine) as session, session.begin():
                yield session

    def before(task: Task) -> None:
        tried.append(task.attempt)

    def inside(task: Task, tx: Transaction) -> None:
        tx.execute(sqlalchemy.text("SELECT 1"))
        tried.append(task.attempt)

    engine = task_sql.create_engine(backend.url, poolclass=Crowded, pool_size=1, max_overflow=0, pool_timeout=0.05)
    recorder = Taking()
    manager = TaskManager(topic, repository, begin, each(inside if within else before), listener=recorder, pause=MOMENT)
    manager.start()
    recorder.wait("dispatched", 2)
    manager.stop()
    engine.dispose()
    assert recorder.names() == [
        *["start", "callback", "fatal", "error", "dispatched"],
        *["start", "callback", "complete", "dispatched"],
    ]
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED
    assert tried == [1] * (1 if within else 2)


@pytest.mark.kinds("connection")
def test_an_engine_is_no_dispatcher(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """Whoever passes one is told what to pass, before anything runs."""
    engine: Any = backend.engine
    manager = TaskManager(topic, repository, backend.begin, each(lambda _: None))
    calls: dict[str, Callable[[], object]] = {
        "dispatcher": lambda: TaskManager(topic, repository, engine, each(lambda _: None)),
        "dispatcher ": lambda: Worker(repository, engine, [manager]),
        " dispatcher": lambda: PersistentTaskProcessor(manager, repository, engine),
        "beat_dispatcher": lambda: Worker(repository, backend.begin, [manager], beat_dispatcher=engine),
    }
    for name, call in calls.items():
        with pytest.raises(InvalidTaskError, match=rf"^{name.strip()} must begin a transaction .*, engine\.begin$"):
            call()
    nothing: Any = None
    with pytest.raises(InvalidTaskError, match=r"this NoneType can't; as engine\.begin does"):
        Worker(repository, nothing, [manager])
