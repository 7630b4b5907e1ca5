"""Processing that is switched on and off in the database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Notifiable, Task, TaskRepository, TaskState, UnknownTopicError
from task_processor import PersistentTaskProcessor, TaskManager, TaskProcessor, each
from tests.backends.steps import push, states
from tests.processor.support import LONG, MOMENT, PATIENCE, Gate, Recorder, Shaky, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from task_processor import TaskHandler, TaskHandlerFactory
    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]


def nothing(_: Task) -> None:
    """Succeed."""


class Spy:
    """A repository that remembers what is stored about topics."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.stored: list[bool] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's own
        return getattr(self._repository, name)

    def activate(self, tx: Any, topic: str, active: bool) -> None:  # noqa: ANN401, FBT001 - as declared
        """Remember, and store."""
        self.stored.append(active)
        self._repository.activate(tx, topic, active)


@pytest.fixture
def spy(repository: Repository) -> Spy:
    """The repository, watched."""
    return Spy(repository)


@pytest.fixture
def managers() -> Iterator[list[TaskManager[Any]]]:
    """Managers that are stopped in the end."""
    made: list[TaskManager[Any]] = []
    yield made
    for manager in made:
        manager.stop()


def persistent(
    backend: Backend,
    spy: Spy,
    managers: list[TaskManager[Any]],
    factory: TaskHandlerFactory | None = None,
    **options: Any,
) -> PersistentTaskProcessor[Any]:
    """A persistent processor of the topic."""
    repository: Any = spy
    factory = factory or each(nothing)
    managers.append(TaskManager("topic", repository, backend.begin, factory, **{"pause": LONG, **options}))
    return PersistentTaskProcessor(managers[-1], repository, backend.begin)


@pytest.mark.usefixtures("topic")
def test_start_and_stop_are_stored(backend: Backend, spy: Spy, managers: list[TaskManager[Any]]) -> None:
    """The wish outlives the processor, and anybody can read it (PN-01, PN-02, PN-06)."""
    processor = persistent(backend, spy, managers)
    assert (processor.topic, processor.active, processor.activation) == ("topic", False, None)
    assert (processor.start(), processor.active, processor.activation) == (True, True, True)
    assert persistent(backend, spy, managers).activation is True
    assert (processor.stop(), processor.active, processor.activation) == (True, False, False)
    assert persistent(backend, spy, managers).activation is False


@pytest.mark.usefixtures("topic")
def test_a_wish_is_stored_where_nothing_is_to_be_done(
    backend: Backend, spy: Spy, managers: list[TaskManager[Any]]
) -> None:
    """A stop where it does not run counts for all, and so does a start where it runs (PN-02, PN-B4)."""
    here, there = persistent(backend, spy, managers), persistent(backend, spy, managers)
    assert (here.start(), there.stop(), here.activation) == (True, False, False)
    assert (here.start(), here.activation, spy.stored) == (False, True, [True, False, True])


@pytest.mark.usefixtures("topic")
def test_a_wish_stands_when_the_start_fails(backend: Backend, spy: Spy, managers: list[TaskManager[Any]]) -> None:
    """What was wanted is known when the reason is gone (PN-02, PN-B4, DESIGN 5)."""

    def fail(_: str) -> TaskHandler:
        raise ValueError

    processor = persistent(backend, spy, managers, fail)
    assert (processor.start(), processor.active, processor.activation) == (False, False, True)
    with Gate() as gate:

        def wait(topic: str) -> TaskHandler:
            gate.pass_through()
            return each(nothing)(topic)

        processor.stop()
        processor = persistent(backend, spy, managers, wait)
        with pytest.raises(TimeoutError, match="no handler was made"):
            processor.start(MOMENT * 100)
        assert (processor.active, processor.activation) == (False, True)


def test_a_wish_that_can_not_be_stored_changes_nothing(
    backend: Backend, spy: Spy, topic: str, managers: list[TaskManager[Any]]
) -> None:
    """Neither start nor stop happens here alone (PN-02, PN-B4)."""
    shaky: Any = Shaky(backend)
    repository: Any = spy
    managers.append(TaskManager(topic, repository, backend.begin, each(nothing), pause=LONG))
    processor = PersistentTaskProcessor(managers[0], repository, shaky.begin)
    shaky.down.set()
    with pytest.raises(ConnectionError):
        processor.start()
    assert processor.active is False
    shaky.down.clear()
    processor.start()
    shaky.down.set()
    with pytest.raises(ConnectionError):
        processor.stop()
    assert processor.active is True


def test_initialize_does_what_is_stored(
    backend: Backend, repository: Repository, spy: Spy, topic: str, managers: list[TaskManager[Any]]
) -> None:
    """Nothing: False; INACTIVE: True, not started; ACTIVE: started, and stays so (PN-04, PN-B2, PN-B8)."""
    processor = persistent(backend, spy, managers)
    assert (processor.initialize(), processor.active, processor.wanted) == (False, False, False)
    for active in (False, True):
        with backend.begin() as tx:
            repository.activate(tx, topic, active)
        assert (processor.initialize(), processor.active, processor.wanted) == (True, active, active)
    assert (processor.initialize(), processor.active, spy.stored) == (True, True, [])


def test_shutdown_and_resume_store_nothing(
    backend: Backend, repository: Repository, spy: Spy, topic: str, managers: list[TaskManager[Any]]
) -> None:
    """A program that ends says nothing about what is wanted (PN-03, PN-05)."""
    recorder = Recorder()
    processor = persistent(backend, spy, managers, listener=recorder)
    assert processor.resume() is False
    processor.start()
    recorder.wait("empty")
    push(backend, repository, topic, "a")
    assert processor.resume() is True
    recorder.wait("complete")
    assert (processor.shutdown(), processor.active, processor.activation) == (True, False, True)
    assert (processor.shutdown(), spy.stored) == (True, [True])


def test_follow_applies_what_was_stored_elsewhere(
    backend: Backend, repository: Repository, spy: Spy, topic: str, managers: list[TaskManager[Any]]
) -> None:
    """It starts and stops, writes nothing, and does not wait for work (PN-04, PN-B2, PN-B8)."""
    push(backend, repository, topic, "a")
    with Gate() as gate:
        processor = persistent(backend, spy, managers, each(gate.pass_through))
        processor.follow()
        assert processor.active is False
        with backend.begin() as tx:
            repository.activate(tx, topic, active=True)
        processor.follow()
        gate.wait()
        with backend.begin() as tx:
            repository.activate(tx, topic, active=False)
        processor.follow()
        processor.follow()
        assert processor.active is True
        gate.open()
        eventually(lambda: not processor.active)
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}
    assert spy.stored == []


@pytest.mark.parametrize("call", ["start", "stop", "initialize"])
def test_an_unknown_topic_is_an_error(backend: Backend, spy: Spy, managers: list[TaskManager[Any]], call: str) -> None:
    """A wish about a misspelt topic would be waited for in vain (PN-02, PN-04, TO-B1)."""
    processor = persistent(backend, spy, managers)
    with pytest.raises(UnknownTopicError, match="topic 'topic' is not initialized"):
        getattr(processor, call)()
    assert (processor.active, processor.activation) == (False, None)


@pytest.mark.usefixtures("topic")
def test_one_change_at_a_time(backend: Backend, spy: Spy, managers: list[TaskManager[Any]]) -> None:
    """Whoever follows a stored wish meets a start that is complete, or gives up (PN-02, PN-B8)."""
    with Gate() as gate, ThreadPoolExecutor(2) as executor:

        def wait(topic: str) -> TaskHandler:
            gate.pass_through()
            return each(nothing)(topic)

        processor = persistent(backend, spy, managers, wait)
        starting = executor.submit(processor.start)
        gate.wait()
        with pytest.raises(TimeoutError, match="nothing was stored or done"):
            processor.stop(MOMENT)
        following = executor.submit(processor.initialize)
        gate.open()
        assert (starting.result(PATIENCE), following.result(PATIENCE)) == (True, True)
    assert spy.stored == [True]


def test_what_a_worker_needs_is_passed_on(
    backend: Backend, repository: Repository, spy: Spy, topic: str, managers: list[TaskManager[Any]]
) -> None:
    """Statistics, giving back and recovering are the wrapped processor's (PN-05)."""
    push(backend, repository, topic, "a", "b")
    with Gate() as gate:
        processor = persistent(backend, spy, managers, each(gate.pass_through))
        processor.start()
        gate.wait()
        statistics = processor.statistics
        assert (processor.owner, statistics.topic, statistics.active, statistics.tasks) == ("me", topic, True, 2)
        with pytest.raises(TimeoutError):
            processor.shutdown(MOMENT)
        assert processor.abandon() == 2
        processor.recover()
        assert set(states(backend, repository, topic).values()) == {TaskState.READY}
    processor.shutdown()


@pytest.mark.usefixtures("topic")
def test_a_start_waits_for_a_stop_that_still_goes_on(
    backend: Backend, repository: Repository, spy: Spy, managers: list[TaskManager[Any]]
) -> None:
    """A wish that changes while work is finished is not lost (PN-10, TM-01, TM-03)."""
    push(backend, repository, "topic", "a")
    with Gate() as gate, ThreadPoolExecutor(1) as executor:
        processor = persistent(backend, spy, managers, each(gate.pass_through))
        processor.start()
        gate.wait()
        with pytest.raises(TimeoutError, match="still at work"):
            processor.stop(MOMENT * 50)
        with pytest.raises(TimeoutError, match="the last run has not ended"):
            processor.start(MOMENT * 50)
        starting = executor.submit(processor.start)
        gate.open()
        assert starting.result(PATIENCE) is True
    assert (processor.active, processor.activation) == (True, True)


def test_both_kinds_are_processors(backend: Backend, repository: Repository) -> None:
    """Notifiers and workers take either (PN-07, TM-28)."""
    manager = TaskManager("topic", repository, backend.begin, each(nothing))
    processors: list[TaskProcessor] = [manager, PersistentTaskProcessor(manager, repository, backend.begin)]
    notifiable: list[Notifiable] = [*processors]
    assert [item.topic for item in notifiable] == ["topic", "topic"]
