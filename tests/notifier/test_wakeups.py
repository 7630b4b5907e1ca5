"""From a committed call to a processor that is resumed, started or stopped, on every database."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from task_api import Revivification, TaskDecision, TaskRepository, TaskState
from task_processor import PersistentTaskProcessor, TaskManager, each
from task_sql import create_notifier
from tests.backends.steps import complete, poll, push, states
from tests.notifier.support import Errors, Puppet, started, threads, until

if TYPE_CHECKING:
    from task_api import Task
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
PUSHER = """
import sys
from task_sql import create_engine, create_repository

engine = create_engine(sys.argv[1])
with engine.begin() as tx:
    create_repository(engine, "another").push(tx, "topic", "from afar")
engine.dispose()
"""


class Stored(Puppet):
    """A puppet that reads what is stored about its topic."""

    def __init__(self, backend: Backend, repository: Repository, topic: str) -> None:
        super().__init__(topic)
        self._backend = backend
        self._repository = repository

    @property
    def activation(self) -> bool | None:
        """What is stored."""
        self._note("activation")
        with self._backend.begin() as tx:
            return self._repository.activation(tx, self.topic)


def nothing(_: Task) -> None:
    """Succeed."""


@pytest.fixture
def others(backend: Backend, repository: Repository) -> list[str]:
    """Further topics."""
    names = ["other", "fence"]
    with backend.begin() as tx:
        for name in names:
            repository.initialize(tx, name)
    return names


def test_a_push_resumes_the_processor_of_its_topic_alone(
    backend: Backend, repository: Repository, topic: str, others: list[str]
) -> None:
    """A push, not the making of a topic, is what it waits for (PN-09, PN-B1)."""
    puppet, *rest = (Puppet(name) for name in (topic, *others))
    with started(create_notifier(backend.engine), puppet, *rest):
        push(backend, repository, topic, "a")
        puppet.wait("resume", 2)
        push(backend, repository, "fence", "a")
        rest[1].wait("resume", 2)
    assert rest[0].count("resume") == 1


@pytest.mark.parametrize("way", ["released", "promoted", "joined", "reset", "recreated"])
def test_what_comes_back_is_a_wake_up_too(backend: Backend, repository: Repository, topic: str, way: str) -> None:
    """Given back, due, joined, reset or recreated: a task is there to be polled (PN-B1)."""
    push(backend, repository, topic, "held", "failed")
    held, failed = poll(backend, repository, topic, 2)
    complete(backend, repository, topic, failed, TaskDecision.FAILURE)
    push(backend, repository, topic, "due", due=timedelta())
    push(backend, repository, topic, "suspended", suspended=True)
    puppet = Puppet(topic)
    with started(create_notifier(backend.engine), puppet):
        with backend.begin() as tx:
            if way == "released":
                repository.release(tx, topic, [held])
            elif way == "promoted":
                assert repository.promote(tx, topic) == 1
            elif way == "joined":
                assert repository.junction(tx, topic, [["suspended"]]) == {"suspended"}
            else:
                way_back = Revivification.RESET if way == "reset" else Revivification.APPEND
                repository.recreate(tx, topic, way_back, [failed])
        puppet.wait("resume", 2)


def test_what_is_not_committed_resumes_nobody(
    backend: Backend, repository: Repository, topic: str, others: list[str]
) -> None:
    """Neither while the transaction is open nor when it is rolled back (PN-09, PN-B1)."""
    puppet, fence = Puppet(topic), Puppet(others[1])
    with started(create_notifier(backend.engine), puppet, fence):
        tx = backend.open()
        repository.push(tx, topic, "never")
        backend.rollback(tx)
        push(backend, repository, fence.topic, "a")
        fence.wait("resume", 2)
        assert puppet.count("resume") == 1


def test_a_push_of_another_process_is_heard(backend: Backend, topic: str) -> None:
    """Producers and consumers share nothing but the database (PN-09)."""
    puppet = Puppet(topic)
    with started(create_notifier(backend.engine), puppet):
        subprocess.run([sys.executable, "-c", PUSHER, backend.url], check=True, timeout=60)  # noqa: S603 - ours
        puppet.wait("resume", 2)


def test_a_stored_wish_is_followed_and_not_stored_again(
    backend: Backend, repository: Repository, topic: str, others: list[str]
) -> None:
    """Whoever stores it: start, stop and start again, each once (PN-10, PN-B2, PN-B8)."""
    puppet, fence = Stored(backend, repository, topic), Stored(backend, repository, others[1])
    with started(create_notifier(backend.engine), puppet, fence):
        # Each is read once at the start; a wish that came before that would be read with it.
        puppet.wait("activation")
        fence.wait("activation")
        for number, active in enumerate((True, False, True)):
            with backend.begin() as tx:
                backend.repository("operator").activate(tx, topic, active)
            puppet.wait("initialize" if active else "shutdown", number // 2 + 1)
        with backend.begin() as tx:
            repository.activate(tx, fence.topic, active=True)
        fence.wait("initialize")
    assert [call for call in puppet.calls if call not in ("activation", "resume")] == [
        "initialize",
        "shutdown",
        "initialize",
    ]
    assert (puppet.count("activation"), fence.count("activation")) == (4, 2)


class Reader:
    """A repository that remembers what was stored through it."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.stored: list[bool] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the repository has
        return getattr(self._repository, name)

    def activate(self, tx: Transaction, topic: str, active: bool) -> None:  # noqa: FBT001 - as declared
        """Store it, and remember."""
        self.stored.append(active)
        self._repository.activate(tx, topic, active)


def test_a_persistent_processor_follows_what_somebody_else_stores(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It runs, works and ends as stored, and stores nothing itself (PN-10, PN-B2, PN-B8)."""
    operator, reader = backend.repository("operator"), Reader(repository)
    manager: TaskManager[Any] = TaskManager(topic, repository, backend.begin, each(nothing), pause=timedelta(hours=1))
    processor: PersistentTaskProcessor[Any] = PersistentTaskProcessor(manager, cast("Any", reader), backend.begin)
    with started(create_notifier(backend.engine), processor):
        for number in range(2):
            with backend.begin() as tx:
                operator.activate(tx, topic, active=True)
            until(lambda: processor.active)
            push(backend, repository, topic, f"task-{number}")
            until(lambda: set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED})
            with backend.begin() as tx:
                operator.activate(tx, topic, active=False)
            until(lambda: not processor.active)
    assert reader.stored == []
    assert processor.activation is False


def test_a_wish_stored_before_is_followed_at_the_start(backend: Backend, repository: Repository, topic: str) -> None:
    """What happened before there was anybody to listen counts too (PN-10, PN-B5)."""
    with backend.begin() as tx:
        repository.activate(tx, topic, active=True)
    puppet = Stored(backend, repository, topic)
    with started(create_notifier(backend.engine), puppet):
        puppet.wait("initialize")


def test_after_the_stop_nobody_is_told(backend: Backend, repository: Repository, topic: str) -> None:
    """Neither resumed nor started, as no thread is left that could (PN-09)."""
    puppet = Stored(backend, repository, topic)
    with started(create_notifier(backend.engine), puppet):
        puppet.wait("activation")
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        repository.activate(tx, topic, active=True)
    assert threads() == []
    assert puppet.calls.count("resume") == 1
    assert not puppet.active


def test_a_processor_that_raises_does_not_end_it(backend: Backend, repository: Repository, topic: str) -> None:
    """Its errors go to the consumer of errors (PN-12, PN-B6)."""
    errors, puppet = Errors(), Puppet(topic)
    notifier = create_notifier(backend.engine, on_error=errors)
    with started(notifier, puppet):
        puppet.trouble["resume"] = [ZeroDivisionError("mine")]
        push(backend, repository, topic, "a")
        puppet.wait("resume", 2)
        push(backend, repository, topic, "b")
        puppet.wait("resume", 3)
        assert notifier.connected
    assert [str(error) for error in errors.seen] == ["mine"]


def test_a_manager_that_pauses_for_an_hour_works_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """The processors that come with the library can be told (PN-09)."""
    manager: TaskManager[Any] = TaskManager(topic, repository, backend.begin, each(nothing), pause=timedelta(hours=1))
    assert manager.start()
    try:
        with started(create_notifier(backend.engine), manager):
            for number in range(5):
                push(backend, repository, topic, f"task-{number}")
                until(lambda: set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED})
    finally:
        manager.stop()
