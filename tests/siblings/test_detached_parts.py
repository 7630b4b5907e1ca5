"""What detached processes are made of: mistakes in their making, their folder, and handlers that hand tasks over."""

from __future__ import annotations

import os
import random
import resource
import socket
import subprocess
import sys
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import make_url

from task_api import OWNER_LENGTH, Claim, InvalidTaskError, Task, TaskDecision, TaskRepository, TaskState
from task_processor import RetryPolicy
from task_processor.detached.child import run_errand
from task_processor.detached.errand import ANSWER, Errand, packed, unpacked
from task_processor.detached.exit import DetachedExit
from task_processor.detached.factory import DetachedTaskHandlerFactory, _heard
from task_processor.detached.folder import DetachedFolder, DetachedProcess, detached_log, detached_owner
from task_processor.detached.lock import held_lock, try_lock
from task_processor.handler import HandedOverError, UnavailableError
from tests.backends.steps import info, poll, push
from tests.processor.support import PlainHandler, Recorder, Shaky, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.backends import Backend

JOBS = "tests.siblings.detached_jobs"
SHORT = timedelta(milliseconds=10)


def factory(tmp_path: Path, function: str = f"{JOBS}:quick", **options: Any) -> DetachedTaskHandlerFactory:
    """A factory with what it needs at least."""
    return DetachedTaskHandlerFactory(function, **{"url": "sqlite:///shop.db", "logs": tmp_path / "logs", **options})


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("", "a function is named as in 'package.module:function'"),
        (JOBS, "a function is named as in 'package.module:function'"),
        (len, "a function is named as in 'package.module:function'"),
        ("__main__:work", "a new process has another __main__"),
        ("no.such.module:work", "module 'no.such.module' can't be imported: ModuleNotFoundError"),
        ("this:work", "'this' has no 'work'"),
        (f"{JOBS}:no_such_function", "has no 'no_such_function'"),
        (f"{JOBS}:not_callable", "is of type str, not a function"),
        (f"{JOBS}:none", r"must take \(task\) or \(task, checkpoint\), not \(\)"),
        (f"{JOBS}:three", r"must take \(task\) or \(task, checkpoint\), not \(task"),
    ],
)
def test_a_function_that_can_not_be_called_is_refused(tmp_path: Path, function: str, reason: str) -> None:
    """When the factory is made, not when the first task comes (S2-B6)."""
    with pytest.raises(InvalidTaskError, match=reason):
        factory(tmp_path, function)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"limit": 0}, "limit must be at least 1, not 0"),
        ({"limit": "2"}, "limit must be at least 1, not '2'"),
        ({"url": ""}, "url must be a database URL"),
        ({"url": None}, "url must be a database URL"),
        ({"url": "shop.db"}, "url must be a database URL"),
        ({"url": "sqlite://"}, "a database in memory"),
        ({"url": "sqlite:///:memory:"}, "a database in memory"),
        ({"heartbeat": 10}, "heartbeat must be a timedelta longer than zero"),
        ({"heartbeat": timedelta(minutes=1)}, "expiry must be longer than heartbeat"),
        ({"expiry": timedelta()}, "expiry must be a timedelta longer than zero"),
        ({"grace": timedelta(seconds=-1)}, "grace must be a timedelta that is not negative"),
        ({"lease": timedelta()}, "lease must be a timedelta longer than zero"),
        ({"patience": timedelta()}, "patience must be a timedelta longer than zero"),
        ({"retry": 3}, "retry must be a RetryPolicy whose errors a new process can import"),
        ({"retry": RetryPolicy(3, chance=lambda: 0.5)}, "retry must be a RetryPolicy that another process can be sent"),
        ({"logs": None}, "logs must name a folder that can be written to"),
        ({"logs": "/proc/nowhere"}, "logs must name a folder that can be written to"),
        ({"logs": "/dev/null"}, "logs must name a folder that can be written to"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    """With what is right."""
    with pytest.raises(InvalidTaskError, match=reason):
        factory(tmp_path, **options)


def test_a_url_of_sqlalchemy_keeps_its_password(tmp_path: Path) -> None:
    """Its text would not."""
    url: Any = make_url("postgresql://me:s3cret@localhost/shop")
    made = factory(tmp_path, url=url)
    assert made._settings["url"] == "postgresql://me:s3cret@localhost/shop"  # noqa: SLF001 - shown nowhere


def test_a_policy_is_sent_without_the_state_of_chance() -> None:
    """Each process spreads its waits by itself; a chance that is given goes with the policy."""
    sent = unpacked(str(packed(RetryPolicy(5, rules={OSError: RetryPolicy(3)}))))
    rule = sent.rules[OSError]
    assert rule is not None
    assert (sent.chance, rule.chance) == (random.random, random.random)
    assert unpacked(str(packed(RetryPolicy(5, chance=float)))).chance is float


def errand(**fields: Any) -> Errand:
    """What a process is to do."""
    given: dict[str, Any] = {
        "url": "",
        "topic": "topic",
        "sequence": 7,
        "identifier": "export",
        "token": 1,
        "function": "jobs:export",
        "paths": [],
        "folder": "/logs",
        "lock": 0,
        "answer": 0,
        "heartbeat": 1.0,
        "expiry": 2.0,
        "grace": 1.0,
        "lease": None,
        "retry": None,
    }
    return Errand(**{**given, **fields})


def process(**fields: Any) -> DetachedProcess:
    """A description of the present process."""
    own = DetachedProcess.own(errand(), "owner")
    return DetachedProcess(**{**{name: getattr(own, name) for name in own.__slots__}, **fields})


def test_a_number_that_belongs_to_another_process_now_is_left_alone() -> None:
    """The system gives numbers again, but no number and start together."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        stale = process(pid=other.pid)
        for signal in (stale.stop, stale.kill):
            with pytest.raises(ProcessLookupError, match=f"process {other.pid} is gone"):
                signal()
        assert other.poll() is None
        other.communicate(b"\n")


def test_a_process_of_another_machine_is_left_alone() -> None:
    """Its number means nothing here (S2-15)."""
    with pytest.raises(ProcessLookupError, match="it runs on elsewhere"):
        process(host="elsewhere").kill()


def test_a_folder_counts_who_holds_a_lock(tmp_path: Path) -> None:
    """One that has just begun counts; what the dead left is removed (S2-04, S2-18)."""
    folder = DetachedFolder(tmp_path / "new" / "logs")
    file = folder.reserve("topic", Task(1, "a"), 2)
    assert file is not None
    assert (folder.count(), folder.running()) == (1, [])
    process().write(file)
    assert [each.sequence for each in DetachedFolder(folder.path).running()] == [7]
    second = folder.reserve("topic", Task(1, "a"), 2)
    assert second is not None
    assert folder.reserve("topic", Task(2, "b"), 2) is None
    os.close(second)
    assert folder.count() == 1
    os.close(file)
    assert (folder.count(), folder.running()) == (0, [])
    assert list(folder.path.glob("*.run")) == []


@pytest.mark.parametrize("topic", ["orders", "a/b", "..", "über uns", "x" * 250, "\N{PILE OF POO}" * 250])
def test_every_topic_has_a_log(tmp_path: Path, topic: str) -> None:
    """Of a name that a file can have, inside of the folder, and its own."""
    folder = DetachedFolder(tmp_path)
    log = folder.log(topic, 17)
    assert log.parent == tmp_path
    log.touch()
    file = folder.reserve(topic, Task(17, "a"), 1)
    assert file is not None
    os.close(file)
    assert folder.log(f"{topic[:-1]}y", 17) != log


def test_the_log_of_a_task_is_told_by_its_owner(tmp_path: Path) -> None:
    """With the machine, if it is another one; others have none."""
    owner = detached_owner(tmp_path)
    log = detached_log(owner, "topic", 17)
    assert log is not None
    assert str(log) == str(tmp_path / "topic-17.log")
    assert str(detached_log(f"detached:elsewhere:1:00:{tmp_path}", "topic", 1)) == f"elsewhere:{tmp_path}/topic-1.log"
    for other in (None, "me", "detached", f"{socket.gethostname()}-1-2", "detached:a:b:c:"):
        assert detached_log(other, "topic", 17) is None
    assert detached_owner(tmp_path) != owner
    deep = detached_owner(Path("/" + "deep/" * 100))
    assert len(deep) <= OWNER_LENGTH
    assert detached_log(deep, "topic", 17) is None


@contextmanager
def few_files(number: int) -> Iterator[None]:
    """Let the present process open no more files than so many."""
    # Each takes the lowest number that is free, so that none is left below the last.
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(number + 1)]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files[-1] + 1, limits[1]))
    try:
        for file in files[1:]:
            os.close(file)
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        os.close(files[0])


@pytest.mark.parametrize("number", range(8))
def test_a_lack_of_files_is_no_fault_of_the_task(tmp_path: Path, number: int) -> None:
    """Wherever the files run out, the task is given back, and no room is taken."""
    made = factory(tmp_path)
    handler = made("topic")
    with few_files(number), pytest.raises(UnavailableError, match=r"no process can be started: \[Errno 24\]"):
        handler([Task(1, "a")], lambda _: True, lambda _: True)
    assert made.folder.count() == 0


@pytest.mark.kinds("driver")
def test_a_full_disk_is_no_fault_of_the_task(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """A process that can't say that it runs has not touched its task."""
    push(backend, repository, topic, "a")
    [task] = poll(backend, repository, topic)
    full = os.open("/dev/full", os.O_RDWR)
    try:
        sent = errand(sequence=task.sequence, token=task.token, lock=full)
        assert (
            run_errand(sent, backend.repository("process", register=False), backend.begin) is DetachedExit.UNREACHABLE
        )
    finally:
        os.close(full)
    found = info(backend, repository, topic, task)
    assert (found.state, found.owner, found.token) == (TaskState.ACTIVE, "me", task.token)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_the_worker_forks_takes_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a pool of processes may do at any moment; it neither keeps the lock nor could it answer."""
    gate, go = os.pipe()
    ready, begun = os.pipe()
    kids = list[int]()

    def spawn(*_: object) -> None:
        if not (kid := os.fork()):
            os.write(begun, b"!")
            os.read(gate, 1)
            os._exit(0)
        kids.append(kid)
        os.read(ready, 1)
        message = "none"
        raise OSError(message)

    made = factory(tmp_path)
    monkeypatch.setattr("task_processor.detached.factory._DetachedHandler._spawn", spawn)
    try:
        with pytest.raises(UnavailableError, match="no process can be started: none"):
            made("topic")([Task(1, "a")], lambda _: True, lambda _: True)
        assert made.folder.count() == 0
    finally:
        os.write(go, b"!")
        assert [os.waitpid(kid, 0)[1] for kid in kids] == [0]
        for file in (gate, go, ready, begun):
            os.close(file)


def test_a_lock_that_others_have_too_ends_with_its_block(tmp_path: Path) -> None:
    """A process that is forked inside has the file as a copy of its number does."""
    path = tmp_path / "lock"
    with held_lock(path):
        [held] = [file for file in range(3, 1000) if _names(file, path)]
        copy = os.dup(held)
    with path.open() as file:
        assert try_lock(file.fileno())
    os.close(copy)


def _names(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False


def test_patience_may_be_as_long_as_one_likes() -> None:
    """Longer than the system can wait at once."""
    answer, told = os.pipe()
    os.write(told, ANSWER)
    os.close(told)
    with open(answer, "rb", buffering=0) as stream:  # noqa: PTH123 - no path
        assert _heard(stream, timedelta(days=365))


def test_a_description_that_is_cut_short_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that has room for some of it."""
    monkeypatch.setattr("os.pwrite", lambda _file, data, _place: len(data) - 1)
    with pytest.raises(OSError, match="No space left"):
        process().write(0)


@pytest.mark.kinds("driver")
def test_tasks_that_were_handed_over_are_left_alone(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Of the rest, what has a decision gets it, and what has none is given back."""
    other = backend.repository("other")
    taken, failed, left = push(backend, repository, topic, "taken", "failed", "left")
    recorder = Recorder()

    def handle(tasks: Sequence[Task], *_: object) -> None:
        with backend.begin() as tx:
            other.eject(tx, topic, tasks[0])
        raise HandedOverError(tasks[:1], {tasks[1]: TaskDecision.failure("broken")})

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder):
        recorder.wait("dispatched")
    assert recorder.names() == ["start", "complete", "dispatched"]
    assert info(backend, repository, topic, taken).owner == "other"
    assert (info(backend, repository, topic, failed).state, info(backend, repository, topic, failed).output) == (
        TaskState.FAILED,
        "broken",
    )
    given = info(backend, repository, topic, left)
    assert (given.state, given.attempt) == (TaskState.READY, 0)


@pytest.mark.kinds("driver")
def test_the_next_task_is_polled_at_once_after_a_handover(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Nothing went wrong, so that there is nothing to wait for."""
    other = backend.repository("other")
    tasks = push(backend, repository, topic, *"abcdefgh")
    recorder = Recorder()

    def handle(tasks: Sequence[Task], *_: object) -> None:
        with backend.begin() as tx:
            other.eject(tx, topic, tasks[0])
        raise HandedOverError(tasks)

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder, size=1):
        # If each were waited for twice as long as the last, patience would end before.
        recorder.wait("empty")
    assert recorder.names() == ["start", "dispatched"] * len(tasks)


@pytest.mark.kinds("driver")
def test_a_decision_beside_a_handover_may_be_lost(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """That is reported, and the rest given back."""
    other = backend.repository("other")
    tasks = push(backend, repository, topic, "taken", "lost", "left")
    recorder = Recorder()

    def handle(polled: Sequence[Task], *_: object) -> None:
        if len(polled) < len(tasks):
            message = "polled once more"
            raise UnavailableError(message)
        for task in polled[:2]:
            with backend.begin() as tx:
                other.eject(tx, topic, task)
        raise HandedOverError(polled[:1], {polled[1]: TaskDecision.SUCCESS})

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder):
        recorder.wait("dispatched")
    assert recorder.names()[:3] == ["start", "lost", "dispatched"]
    assert recorder.wait("lost") == [(tasks[1],)]
    states = [info(backend, repository, topic, task).state for task in tasks]
    assert states == [TaskState.ACTIVE, TaskState.ACTIVE, TaskState.READY]


@pytest.mark.kinds("driver")
def test_a_decision_beside_a_handover_may_find_no_database(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Its task is given back as soon as the database is there again."""
    [task] = push(backend, repository, topic, "failed")
    recorder, shaky = Recorder(), Shaky(backend)

    def handle(tasks: Sequence[Task], *_: object) -> None:
        shaky.down.set()
        raise HandedOverError([], {tasks[0]: TaskDecision.SUCCESS})

    shaky_backend: Any = shaky
    with running(shaky_backend, repository, lambda _: PlainHandler(handle), listener=recorder):
        recorder.wait("fatal")
        shaky.down.clear()
    assert (info(backend, repository, topic, task).state, recorder.names()[0]) == (TaskState.READY, "start")


class Roomy(PlainHandler):
    """A handler that says how many tasks it can take."""

    def __init__(self) -> None:
        super().__init__(self.take)
        self.rooms = [2, 0, 0, 5]
        self.batches: list[int] = []

    def room(self) -> int:
        """Tell."""
        return self.rooms.pop(0) if len(self.rooms) > 1 else self.rooms[0]

    def take(self, tasks: Sequence[Task], callback: Any, _: object) -> None:  # noqa: ANN401
        """Remember."""
        self.batches.append(len(tasks))
        callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS))


@pytest.mark.kinds("driver")
def test_no_more_is_polled_than_a_handler_has_room_for(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Without any room nothing is polled, and nobody is told that there was nothing."""
    push(backend, repository, topic, *"abcdefghij")
    handler, recorder = Roomy(), Recorder()
    with running(backend, repository, lambda _: handler, listener=recorder, size=3, pause=SHORT):
        recorder.wait("empty")
    assert handler.batches == [2, 3, 3, 2]
    assert recorder.events.index(("empty", None)) == len([each for each in recorder.events if each[0] != "empty"])


@pytest.mark.kinds("driver")
def test_a_manager_without_room_can_be_stopped(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """It waits for room as it waits for tasks."""
    [task] = push(backend, repository, topic, "a")
    handler = Roomy()
    handler.rooms = [0]
    with running(backend, repository, lambda _: handler) as manager:
        assert manager.active
    assert info(backend, repository, topic, task).attempt == 0


@pytest.mark.kinds("driver")
def test_a_transactional_claim_is_not_handed_over(
    backend: Backend, repository: TaskRepository[Any], topic: str, tmp_path: Path
) -> None:
    """No other process could see it; the task stays READY and the listener hears why."""
    [task] = push(backend, repository, topic, "a")
    recorder = Recorder()
    made = factory(tmp_path, url=backend.url)
    with running(backend, repository, made, listener=recorder, claim=Claim.TRANSACTION):
        [error, *_] = recorder.wait("fatal")
    assert "use Claim.COMMITTED" in str(error)
    assert info(backend, repository, topic, task).state is TaskState.READY


@pytest.mark.kinds("driver")
def test_a_late_outcome_after_a_handover_is_ignored(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Of several outcomes the first counts."""
    push(backend, repository, topic, "a")
    recorder, answers = Recorder(), list[bool]()

    def handle(tasks: Sequence[Task], callback: Any, _: object) -> None:  # noqa: ANN401
        answers.append(callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS)))
        raise HandedOverError(tasks)

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder):
        recorder.wait("dispatched")
    assert answers == [True]
    assert recorder.names() == ["start", "callback", "complete", "dispatched"]
