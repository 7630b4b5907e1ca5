"""What the manager does when the database, or its hold on a task, goes away."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, LostTaskError, Task, TaskDecision, TaskRepository, TaskState, UnknownOwnerError
from task_processor import ShutdownError, TaskLimiter, TaskManager, TaskToken, UnavailableError, batch, each
from tests.backends.steps import info, push, states
from tests.processor.support import LONG, PATIENCE, Gate, PlainHandler, Recorder, Shaky, Watched, eventually, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from task_processor import Callback, OnFailure
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
claims = pytest.mark.parametrize("claim", Claim)


def nothing(_: Task) -> None:
    """Succeed."""


@claims
def test_a_failing_poll_is_waited_for(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """It is reported, the loop backs off and goes on; resume ends the wait (TM-21, TM-B3)."""
    push(backend, repository, topic, "a")
    shaky, recorder = Shaky(backend), Recorder()
    shaky.down.set()
    with running(shaky, repository, each(nothing), listener=recorder, claim=claim) as manager:  # type: ignore[arg-type]
        recorder.wait("fatal")
        # The back-off of so long a pause is a second or so, far more than a thousand polls would take.
        assert len(recorder.wait("fatal")) == 1
        shaky.down.clear()
        manager.resume()
        recorder.wait("complete")
        assert manager.active is True
    assert set(recorder.names()) == {"fatal", "start", "callback", "complete", "dispatched"}


@claims
def test_a_backing_off_manager_stops_at_once(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """The wait after a failing poll ends with the stop (TM-03, TM-B3)."""
    shaky, recorder = Shaky(backend), Recorder()
    shaky.down.set()
    with running(shaky, repository, each(nothing), topic=topic, listener=recorder, claim=claim) as manager:  # type: ignore[arg-type]
        recorder.wait("fatal")
        assert manager.stop() is True
        assert manager.active is False


def test_a_batch_that_could_not_be_decided_is_released(backend: Backend, repository: Repository, topic: str) -> None:
    """Neither completed nor failed, it is given back as soon as the database is back (TM-20, DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    shaky, recorder = Shaky(backend), Recorder()
    attempts = []

    def work(task: Task) -> None:
        attempts.append(task.attempt)
        if len(attempts) == 1:
            shaky.commits_fail.set()

    with running(shaky, repository, each(work), listener=recorder) as manager:  # type: ignore[arg-type]
        [fatal] = recorder.wait("fatal")[:1]
        recorder.wait("error")
        assert info(backend, repository, topic, task).state == TaskState.ACTIVE
        shaky.commits_fail.clear()
        manager.resume()
        recorder.wait("complete")
    assert "while a batch was to be failed because of ConnectionError" in fatal.__notes__[0]
    assert recorder.names()[:5] == ["start", "callback", "fatal", "error", "dispatched"]
    assert attempts == [1, 1]
    assert info(backend, repository, topic, task).state == TaskState.SUCCEEDED


def test_what_can_not_be_decided_is_tried_again_ever_later(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the database refuses, neither the decision nor the failure, the loop does not spin (TM-B3, TM-20)."""
    push(backend, repository, topic, "a")
    recorder, heard = Recorder(), list[str]()

    def wait(_: timedelta, failures: int, __: timedelta) -> timedelta:
        heard.append(f"wait {failures}")
        return timedelta()

    class Refusing:
        """Stores no decision before the third attempt."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's own
            return getattr(repository, name)

        def complete_many(self, *arguments: Any) -> None:
            """Refuse, or store."""
            if heard.count("work") < 3:
                message = "not at this level of isolation"
                raise ValueError(message)
            repository.complete_many(*arguments)

    refusing: Any = Refusing()
    monkeypatch.setattr("task_processor.loop.backoff_delay", wait)
    with running(backend, refusing, each(lambda _: heard.append("work")), listener=recorder):
        [decisions] = recorder.wait("complete")
    assert heard == ["work", "wait 1", "work", "wait 2", "work"]
    assert [task.attempt for task in decisions] == [1]


def test_a_stopped_manager_gives_back_what_it_could_not_decide(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A batch that waits for the database outlives the loop (TM-20, DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    shaky, recorder = Shaky(backend), Recorder()
    with running(
        shaky,  # type: ignore[arg-type]
        repository,
        each(lambda _: shaky.down.set()),
        listener=recorder,
    ) as manager:
        recorder.wait("error")
    with pytest.raises(ConnectionError):
        manager.recover()
    shaky.down.clear()
    manager.recover()
    stored = info(backend, repository, topic, task)
    assert (stored.state, stored.attempt) == (TaskState.READY, 0)


def test_a_commit_that_fails_undoes_a_transactional_batch(backend: Backend, repository: Repository, topic: str) -> None:
    """All is as before the poll, the handler is told, and the loop backs off (TM-12, TM-21, TM-B8)."""
    [task] = push(backend, repository, topic, "a")
    shaky, recorder = Shaky(backend), Recorder()
    answers: list[bool] = []

    def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
        if not answers:
            shaky.commits_fail.set()
        answers.append(callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS)))

    factory = lambda _: PlainHandler(handle)  # noqa: E731 - a factory
    with running(shaky, repository, factory, listener=recorder, claim=Claim.TRANSACTION) as manager:  # type: ignore[arg-type]
        recorder.wait("fatal")
        stored = info(backend, repository, topic, task)
        assert (stored.state, stored.attempt) == (TaskState.READY, 0)
        shaky.commits_fail.clear()
        manager.resume()
        recorder.wait("complete")
    assert recorder.names()[:5] == ["start", "callback", "error", "dispatched", "fatal"]
    assert answers == [False, True]


def test_a_poll_whose_answer_was_lost_leaves_nothing_active(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A commit that worked without saying so is noticed, and the tasks are given back (P1, TM-21, DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    recorder = Recorder()
    answers = iter([ConnectionError("the answer was lost")])

    class Deaf:
        """Commits the first transaction and raises all the same."""

        @contextmanager
        def begin(self) -> Iterator[Transaction]:
            """Begin a transaction."""
            with backend.begin() as tx:
                yield tx
            for error in answers:
                raise error

    with running(Deaf(), repository, each(nothing), listener=recorder) as manager:  # type: ignore[arg-type]
        recorder.wait("fatal")
        assert info(backend, repository, topic, task).state == TaskState.ACTIVE
        manager.resume()
        recorder.wait("complete")
    stored = info(backend, repository, topic, task)
    assert (stored.state, stored.attempt) == (TaskState.SUCCEEDED, 1)


@claims
def test_errors_of_giving_a_slot_back_affect_nothing(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """The decisions stand, and the loop goes on (TM-23)."""
    push(backend, repository, topic, "a", "b")
    recorder = Recorder()

    class Token(TaskToken):
        """Has its slot at once and raises when it is given back."""

        def wait(self, timeout: float | None = None) -> bool:
            """Have it."""
            assert timeout is None
            return True

        def release(self) -> None:
            """Raise."""
            raise RuntimeError

    class Limiter(TaskLimiter):
        """Gives such tokens."""

        def request(self, topic: str) -> TaskToken:
            """Give one."""
            assert topic
            return Token()

    with running(backend, repository, each(nothing), listener=recorder, limiter=Limiter(), size=1, claim=claim):
        recorder.wait("complete", 2)
        recorder.wait("empty")
    assert recorder.names() == ["start", "callback", "complete", "dispatched"] * 2


@pytest.mark.parametrize("way", ["complete", "fail"])
def test_lost_tasks_are_reported_and_poison_nothing(
    backend: Backend, repository: Repository, topic: str, way: str
) -> None:
    """Effects are rolled back, the lost task is reported, the rest is worked on again or fails (P2, DESIGN 5)."""
    tasks = push(backend, repository, topic, "a", "b", "c")
    thief = backend.repository("thief")
    recorder = Recorder()
    stolen: list[Task] = []

    def handle(tasks: Sequence[Task], callback: Callback, on_failure: OnFailure) -> None:
        if not stolen:
            with backend.begin() as tx:
                stolen.append(thief.eject(tx, topic, tasks[1]))
            if way == "fail":
                on_failure(ValueError())
                return

        def complete(tx: Transaction) -> dict[Task, TaskDecision]:
            repository.push(
                tx,
                topic,
                "effect",
            )
            return dict.fromkeys(tasks, TaskDecision.SUCCESS)

        callback(complete)

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder, size=3):
        recorder.wait("lost")
        if way == "complete":
            recorder.wait("complete")
        else:
            recorder.wait("error")
    assert recorder.wait("lost") == [(tasks[1],)]
    found = states(backend, repository, topic)
    expected = TaskState.SUCCEEDED if way == "complete" else TaskState.FAILED
    assert [found[task.sequence] for task in tasks] == [expected, TaskState.ACTIVE, expected]
    assert info(backend, repository, topic, tasks[1]).owner == "thief"
    assert info(backend, repository, topic, tasks[0]).attempt == 1


def test_a_lost_task_of_another_topic_is_an_error_of_the_work(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Work that decides tasks of other topics may lose those; that is a failure as any other (TM-19)."""
    [task] = push(backend, repository, topic, "a")
    recorder = Recorder()

    def work(task: Task, _: Transaction) -> None:
        other = "other"
        raise LostTaskError(other, [task])

    with running(backend, repository, each(work), listener=recorder):
        recorder.wait("empty")
    assert info(backend, repository, topic, task).state == TaskState.FAILED
    assert "lost" not in recorder.names()


def test_a_crashed_transaction_frees_its_tasks(backend: Backend, repository: Repository, topic: str) -> None:
    """Under a transactional claim nothing is ACTIVE at any time, and others see the task READY (DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    recorder = Recorder()
    seen = []

    def look(task: Task) -> None:
        seen.append(backend.sql("SELECT state FROM task WHERE sequence = :number", number=task.sequence))

    with running(backend, repository, each(look), listener=recorder, claim=Claim.TRANSACTION):
        recorder.wait("empty")
    assert seen == [[(TaskState.READY,)]]
    assert info(backend, repository, topic, task).state == TaskState.SUCCEEDED


@pytest.mark.backends("postgresql")
def test_a_cut_connection_does_not_end_the_loop(backend: Backend, repository: Repository, topic: str) -> None:
    """Sessions ended by the server in the middle of the work cost an attempt at most (TM-20, TM-21)."""
    tasks = push(backend, repository, topic, *map(str, range(5)))
    recorder = Recorder()
    cut = threading.Event()

    def work(_: Task, tx: Transaction) -> None:
        if not cut.is_set():
            cut.set()
            pid = tx.info.backend_pid
            backend.sql("SELECT pg_terminate_backend(:pid)", pid=pid)
            tx.execute("SELECT 1")

    pause = timedelta(milliseconds=10)
    with running(backend, repository, each(work), listener=recorder, claim=Claim.TRANSACTION, pause=pause):
        recorder.wait("complete")
    assert cut.wait(PATIENCE)
    found = states(backend, repository, topic)
    assert [found[task.sequence] for task in tasks] == [TaskState.SUCCEEDED] * 5


@claims
def test_what_can_not_begin_is_tried_again_ever_later(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """The batch is given back, no attempt counted, and the loop does not spin (TM-B3, TM-20)."""
    push(backend, repository, topic, "a")
    moments: list[float] = []
    recorder = Recorder()

    def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
        moments.append(time.monotonic())
        if len(moments) < 4:
            message = "the printer is off"
            raise UnavailableError(message)
        callback(lambda _: {task: TaskDecision.success(str(task.attempt)) for task in tasks})

    pause = timedelta(milliseconds=100)
    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder, pause=pause, claim=claim):
        [decisions] = recorder.wait("complete")
    assert [decision.message for decision in decisions.values()] == ["1"]
    assert all(later - earlier > 0.045 for earlier, later in pairwise(moments))


@claims
@pytest.mark.parametrize("ahead", [0, 1])
def test_a_setback_is_waited_out_whoever_resumes(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch, *, claim: Claim, ahead: int
) -> None:
    """What is given back is announced, to its own manager too; nothing begins before the wait is over (TM-B3)."""
    push(backend, repository, topic, "a", "b", "c")
    recorder, heard, delay = Recorder(), list[str](), timedelta(milliseconds=100)

    def wait(_: timedelta, failures: int, __: timedelta) -> timedelta:
        heard.append(f"wait {failures}")
        return delay

    @contextmanager
    def announced() -> Iterator[Transaction]:
        try:
            with backend.begin() as tx:
                yield tx
        finally:
            manager.resume()

    def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
        heard.append("begin")
        if heard.count("begin") <= 3:
            raise UnavailableError
        callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS))

    monkeypatch.setattr("task_processor.loop.backoff_delay", wait)
    options: Any = {"listener": recorder, "claim": claim, "ahead": ahead, "size": 1}
    manager = TaskManager(topic, repository, announced, lambda _: PlainHandler(handle), **options)
    begun = time.monotonic()
    manager.start()
    recorder.wait("complete", 3)
    assert time.monotonic() - begun > 3 * delay.total_seconds()
    manager.stop()
    assert heard == ["begin", "wait 1", "begin", "wait 2", "begin", "wait 3", *["begin"] * 3]


@claims
@pytest.mark.parametrize("ahead", [0, 1])
def test_a_batch_that_is_decided_ends_a_row_of_setbacks(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch, *, claim: Claim, ahead: int
) -> None:
    """The next one is waited out as if it were the first (TM-20)."""
    push(backend, repository, topic, "a", "b", "c")
    recorder, begun, waits = Recorder(), list[str](), list[int]()

    def wait(_: timedelta, failures: int, __: timedelta) -> timedelta:
        waits.append(failures)
        return timedelta(milliseconds=100)

    def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
        begun.append(tasks[0].identifier)
        if begun.count(tasks[0].identifier) == 1:
            raise UnavailableError
        callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS))

    monkeypatch.setattr("task_processor.loop.backoff_delay", wait)
    options: Any = {"listener": recorder, "claim": claim, "ahead": ahead, "size": 1}
    with running(backend, repository, lambda _: PlainHandler(handle), **options):
        recorder.wait("complete", 3)
    assert waits == [1, 1, 1]


@claims
@pytest.mark.parametrize("ahead", [0, 1])
def test_an_empty_poll_beside_the_work_ends_no_row_of_setbacks(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch, *, claim: Claim, ahead: int
) -> None:
    """What is not decided yet may be the next of them (TM-20)."""
    push(backend, repository, topic, "a")
    alone = backend.name == "sqlite" and claim is Claim.TRANSACTION  # nobody polls beside a transaction
    recorder, waits = Recorder(), list[int]()

    def wait(_: timedelta, failures: int, __: timedelta) -> timedelta:
        waits.append(failures)
        return timedelta(milliseconds=1)

    def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
        if ahead and not alone:
            recorder.wait("empty", len(waits) + 1)
        if len(waits) < 4:
            raise UnavailableError
        callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS))

    monkeypatch.setattr("task_processor.loop.backoff_delay", wait)
    options: Any = {"listener": recorder, "claim": claim, "ahead": ahead, "size": 1}
    with running(backend, repository, lambda _: PlainHandler(handle), **options):
        recorder.wait("complete")
    assert waits == [1, 2, 3, 4]


@pytest.mark.usefixtures("topic")
def test_a_limiter_that_gives_no_slot_ends_the_loop(backend: Backend, repository: Repository) -> None:
    """A request that ends without one, although nobody has cancelled it, is an error of the limiter (TM-22)."""

    class Limiter(TaskLimiter):
        def request(self, topic: str) -> TaskToken:  # noqa: ARG002 - as declared
            token = TaskToken()
            token._settle(granted=False)  # noqa: SLF001 - the limiter's side of the token
            return token

    recorder = Recorder()
    manager = TaskManager("topic", repository, backend.begin, each(nothing), limiter=Limiter(), listener=recorder)
    manager.start()  # whether it has ended by then is a matter of luck
    [error] = recorder.wait("fatal")
    eventually(lambda: not manager.active)
    manager.stop()
    assert "gave topic 'topic' no slot" in str(error)


@contextmanager
def silently(backend: Backend, error: type[Exception]) -> Iterator[Transaction]:
    """Begin a transaction, and keep to itself that it was rolled back."""
    with suppress(error), backend.begin() as tx:
        yield tx


@claims
def test_a_dispatcher_that_keeps_errors_to_itself_decides_nothing(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """The tasks are given back, and it is said why (TM-20)."""
    [task] = push(backend, repository, topic, "a")
    recorder, failed = Recorder(), threading.Event()

    class Failing(Watched):
        def complete_many(self, *arguments: Any) -> None:
            if not failed.is_set():
                failed.set()
                raise LostTaskError(topic, [task])
            repository.complete_many(*arguments)

    manager = TaskManager(
        topic,
        Failing(repository),
        lambda: silently(backend, LostTaskError),
        each(nothing),
        listener=recorder,
        pause=LONG,
        claim=claim,
    )
    manager.start()
    recorder.wait("complete")
    manager.stop()
    assert "keeps to itself" in str(recorder.wait("fatal")[0])
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


@claims
def test_a_dispatcher_that_keeps_errors_to_itself_does_not_hide_those_of_polls(
    backend: Backend, topic: str, claim: Claim
) -> None:
    """A poll that was refused is not taken for one that found nothing (TM-20)."""
    stranger, recorder = backend.repository("stranger", register=False), Recorder()
    manager = TaskManager(
        topic,
        stranger,
        lambda: silently(backend, UnknownOwnerError),
        each(nothing),
        listener=recorder,
        pause=LONG,
        claim=claim,
    )
    manager.start()
    assert "keeps to itself" in str(recorder.wait("fatal")[0])
    manager.stop()
    assert "empty" not in recorder.names()


def test_a_stop_that_takes_too_long_can_give_the_tasks_back(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """They are READY at once, and the work that goes on decides nothing any more (P2, TM-B6, TM-B7)."""
    tasks = push(backend, repository, topic, "a", "b")
    recorder = Recorder()
    with Gate() as gate, running(backend, repository, batch(gate.pass_through), listener=recorder) as manager:
        gate.wait()
        with pytest.raises(TimeoutError):
            manager.stop(timedelta(milliseconds=1))
        assert (manager.abandon(), manager.abandon()) == (2, 0)
        assert states(backend, repository, topic) == {task.sequence: TaskState.READY for task in tasks}
        assert info(backend, repository, topic, tasks[0]).attempt == 0
        gate.open()
        manager.stop()
    assert recorder.names() == ["start", "error", "dispatched"]
    assert isinstance(recorder.errors[0], ShutdownError)
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}


def test_nothing_decided_is_given_back(backend: Backend, repository: Repository, topic: str) -> None:
    """A batch that has its outcome keeps it (TM-B7)."""
    push(backend, repository, topic, "a")
    recorder = Recorder()
    with running(backend, repository, each(nothing), listener=recorder) as manager:
        recorder.wait("empty")
        assert manager.abandon() == 0
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


def test_a_loss_that_names_no_topic_is_one_of_the_batch(backend: Backend, repository: Repository, topic: str) -> None:
    """As a source of one's own may tell it; nothing fails because of it (P2)."""
    push(backend, repository, topic, "a")
    recorder = Recorder()

    def work(tasks: Sequence[Task], _: Transaction) -> None:
        raise LostTaskError(tasks)

    with running(backend, repository, batch(work), listener=recorder):
        recorder.wait("lost")
    assert "error" not in recorder.names()
