"""Detached processes and those who start them: what survives whom, and who decides."""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Insertion, LostTaskError, Revivification, TaskRepository, TaskState, UnknownTopicError
from task_processor import RetryPolicy, TaskHandler, TaskManager, Worker
from tests.backends.steps import complete, info, poll, push, states
from tests.processor.support import PlainHandler, Recorder, eventually, running
from tests.siblings.detached_den import Den

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from task_api import Task, TaskInfo
    from task_processor import Callback, OnFailure, TaskHandlerFactory
    from tests.backends import Backend

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.timeout(200)]
SHORT = timedelta(milliseconds=10)


@pytest.fixture
def den(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Den]:
    """The processes of the test."""
    monkeypatch.setenv("TOPIQ_TEST_DEN", str(tmp_path / "den"))
    den = Den(backend, tmp_path)
    try:
        yield den
    finally:
        den.clear()


class Stage:
    """A topic whose tasks run in detached processes."""

    def __init__(self, backend: Backend, repository: TaskRepository[Any], topic: str, den: Den) -> None:
        self.backend = backend
        self.repository = repository
        self.topic = topic
        self.den = den

    def push(self, *identifiers: str, **fields: Any) -> list[Task]:
        """Push tasks."""
        return push(self.backend, self.repository, self.topic, *identifiers, **fields)

    def info(self, task: Task) -> TaskInfo:
        """What is stored about a task."""
        return info(self.backend, self.repository, self.topic, task)

    def becomes(self, task: Task, state: TaskState) -> TaskInfo:
        """Wait until a task is in a state."""
        self.den.eventually(lambda: self.info(task).state is state)
        return self.info(task)


@pytest.fixture
def stage(backend: Backend, repository: TaskRepository[Any], topic: str, den: Den) -> Stage:
    """The topic of the test."""
    return Stage(backend, repository, topic, den)


def test_a_process_outlives_a_killed_worker_and_decides(stage: Stage) -> None:
    """The worker dies in the midst of it, another one starts, and the work is done once (S2-01, S2-11, S2-12)."""
    [task] = stage.push("export")
    worker = stage.den.controller("patient")
    stage.den.expect("begun")
    process = stage.den.running()
    worker.kill()
    worker.wait()
    stage.den.controller("patient")
    [other] = stage.push("other")
    # The new worker has nothing to do with the first task.
    stage.den.expect("begun other")
    assert os.getsid(process.pid) == process.pid
    stage.den.go()
    found = stage.becomes(task, TaskState.SUCCEEDED)
    stage.becomes(other, TaskState.SUCCEEDED)
    assert (found.output, found.attempt, found.owner) == ("patience", 1, process.owner)
    assert sorted(stage.den.notes("begun")) == ["begun export None", "begun other None"]


def test_a_worker_that_leaves_in_order_leaves_its_processes_alone(stage: Stage) -> None:
    """A deploy sends SIGTERM: the worker ends at once and gives nothing back (S2-01, S2-11)."""
    [task] = stage.push("export")
    worker = stage.den.controller("patient")
    stage.den.expect("begun")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    assert stage.info(task).state is TaskState.ACTIVE
    stage.den.go()
    assert stage.becomes(task, TaskState.SUCCEEDED).attempt == 1


def test_the_manager_reports_neither_a_decision_nor_a_loss(stage: Stage) -> None:
    """A task that was taken over is the process's own business (S2-12)."""
    recorder = Recorder()
    stage.push("export")
    with running(stage.backend, stage.repository, stage.den.factory("patient"), listener=recorder):
        stage.den.expect("begun")
        recorder.wait("dispatched")
        assert recorder.names() == ["start", "dispatched"]
    assert recorder.names() == ["start", "dispatched"]


def test_the_worker_can_decide_no_more_after_the_takeover(stage: Stage) -> None:
    """The claim has another token and another owner (S2-B5)."""
    stage.push("export")
    [task] = poll(stage.backend, stage.repository, stage.topic)
    process = stage.den.child("patient", task)
    stage.den.expect("begun")
    with pytest.raises(LostTaskError):
        complete(stage.backend, stage.repository, stage.topic, task)
    with stage.backend.begin() as tx, pytest.raises(LostTaskError):
        stage.repository.release(tx, stage.topic, [task])
    found = stage.info(task)
    assert found.token == task.token + 1
    assert (found.owner or "").startswith("detached:")
    stage.den.go()
    assert stage.den.ends(process) == 0


def test_a_killed_process_is_found_by_its_heartbeat_and_resumed(stage: Stage) -> None:
    """The next process goes on after the last checkpoint; the task's input is that (S2-04, S2-14, S2-12)."""
    [task] = stage.push("walk")
    manager = TaskManager(
        stage.topic, stage.repository, stage.backend.begin, stage.den.factory("stepping"), pause=SHORT
    )
    with Worker(stage.repository, stage.backend.begin, [manager], heartbeat=SHORT, expiry=timedelta(minutes=5)):
        stage.den.expect("step 3")
        stage.den.eventually(lambda: stage.info(task).input == "3")
        process = stage.den.running()
        process.kill()
        # No need to wait for five minutes of silence.
        stage.backend.age_owner(process.owner, 3600)
        found = stage.becomes(task, TaskState.SUCCEEDED)
    assert stage.den.notes() == ["step 1", "step 2", "step 3", "step 4", "step 5"]
    assert (found.output, found.input, found.attempt) == ("5 steps", "5", 2)
    assert found.owner != process.owner
    assert stage.den.log(task).count("begins as owner") == 2


def test_a_living_process_is_not_expired(stage: Stage) -> None:
    """It beats from a thread of its own while it works, and once it was forgotten (S2-B5)."""
    [task] = stage.push("export")
    with running(stage.backend, stage.repository, stage.den.factory("patient", heartbeat=SHORT), size=1):
        stage.den.expect("begun")
    owner = stage.den.running().owner
    stage.backend.age_owner(owner, 3600)
    with stage.backend.begin() as tx:
        stage.repository.purge_owners(tx, timedelta(minutes=1))

    def beating() -> bool:
        with stage.backend.begin() as tx:
            return owner in stage.repository.owners(tx, timedelta(minutes=1))

    eventually(beating)
    stage.backend.sql("DELETE FROM task_owner WHERE owner = :owner", owner=owner)
    eventually(beating)
    with stage.backend.begin() as tx:
        stage.repository.expire(tx, timedelta(minutes=1))
    assert stage.info(task).state is TaskState.ACTIVE


class Counted:
    """A handler that tells how often it was asked for room."""

    def __init__(self, handler: Any) -> None:  # noqa: ANN401 - of the factory's own type
        self.handler = handler
        self.asked = 0

    def room(self) -> int:
        """Count."""
        self.asked += 1
        return int(self.handler.room())

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:
        """Pass on."""
        self.handler(tasks, callback, on_failure)

    def close(self) -> None:
        """Pass on."""
        self.handler.close()


def test_the_limit_holds_across_a_restart_of_the_worker(stage: Stage) -> None:
    """What an earlier worker started counts; no task is polled without room for it, and none is forgotten."""
    first, second = stage.push("first", "second")
    worker = stage.den.controller("patient", limit=1)
    stage.den.expect("begun first")
    worker.kill()
    worker.wait()
    handlers: list[Counted] = []

    def factory(topic: str) -> TaskHandler:
        handlers.append(Counted(stage.den.factory("patient", limit=1)(topic)))
        return handlers[-1]

    recorder = Recorder()
    with running(stage.backend, stage.repository, factory, pause=SHORT, listener=recorder):
        eventually(lambda: handlers[-1].asked >= 5)
        assert stage.den.folder.count() == 1
        assert recorder.names() == []
        assert (stage.info(second).state, stage.info(second).attempt) == (TaskState.READY, 0)
        stage.den.go()
        stage.becomes(first, TaskState.SUCCEEDED)
        stage.becomes(second, TaskState.SUCCEEDED)
    assert stage.info(second).attempt == 1


def test_as_many_run_at_once_as_the_limit_says(stage: Stage) -> None:
    """And not more, however many tasks there are."""
    tasks = stage.push(*"abcde")
    with running(stage.backend, stage.repository, stage.den.factory("patient", limit=2), pause=SHORT):
        stage.den.expect("begun", 2)
        found = states(stage.backend, stage.repository, stage.topic)
        assert [found[task.sequence] for task in tasks] == [TaskState.ACTIVE] * 2 + [TaskState.READY] * 3
        assert stage.den.folder.count() == 2
        stage.den.go()
        for task in tasks:
            stage.becomes(task, TaskState.SUCCEEDED)


def unasked(factory: TaskHandlerFactory) -> TaskHandlerFactory:
    """A factory whose handlers are not asked for room, as behind another handler."""
    return lambda topic: PlainHandler(factory(topic))


def test_a_batch_that_was_polled_without_asking_is_started_as_far_as_there_is_room(stage: Stage) -> None:
    """The rest is given back, its attempt not counted."""
    tasks = stage.push(*"abc")
    recorder = Recorder()
    factory = unasked(stage.den.factory("patient", limit=2))
    with running(stage.backend, stage.repository, factory, listener=recorder) as manager:
        recorder.wait("dispatched")
        found = [stage.info(task) for task in tasks]
        manager.resume()
        # A batch that is all without room is given back too, and told.
        recorder.wait("fatal")
    assert [each.state for each in found] == [TaskState.ACTIVE, TaskState.ACTIVE, TaskState.READY]
    assert [each.attempt for each in found] == [1, 1, 0]
    assert "lost" not in recorder.names()
    assert stage.info(tasks[2]).attempt == 0


def test_a_process_that_dies_before_the_takeover_fails_its_task(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has its exit code and the end of its log, and nothing of earlier ones (S2-10)."""
    program = tmp_path / "python"
    program.write_text('#!/bin/sh\necho "attempt on $$"\nexit 7\n')
    program.chmod(0o755)
    [task] = stage.push("export")
    stage.den.folder.log(stage.topic, task.sequence).write_text("long ago\n")
    monkeypatch.setattr("sys.executable", str(program))
    retry = RetryPolicy(2, timedelta(hours=1))
    with running(stage.backend, stage.repository, stage.den.factory("quick"), retry=retry):
        output = str(stage.becomes(task, TaskState.SUSPENDED).output)
    assert f"the detached process of {task} ended with 7 before it took the task over" in output
    assert "attempt on" in output
    assert "long ago" not in output
    assert stage.den.folder.count() == 0


def test_one_that_fails_at_its_start_does_not_fail_the_others_of_its_batch(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each task of a batch has an end of its own (S2-10)."""
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nmkdir {tmp_path}/first 2>/dev/null && exit 7\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    bad, good = stage.push("bad", "good")
    recorder = Recorder()
    monkeypatch.setattr("sys.executable", str(program))
    factory = unasked(stage.den.factory("quick"))
    with running(stage.backend, stage.repository, factory, listener=recorder):
        [decisions] = recorder.wait("complete")
        stage.becomes(good, TaskState.SUCCEEDED)
    assert list(decisions) == [bad]
    assert stage.info(bad).state is TaskState.FAILED
    assert "ended with 7" in str(stage.info(bad).output)
    assert recorder.names() == ["start", "complete", "dispatched"]


def test_a_process_that_does_not_take_over_in_time_is_ended(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its task is given back, its attempt not counted, and nothing of it is left."""
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    [task] = stage.push("export")
    recorder = Recorder()
    monkeypatch.setattr("sys.executable", str(program))
    factory = stage.den.factory("quick", patience=timedelta(milliseconds=200))
    with running(stage.backend, stage.repository, factory, listener=recorder):
        [error] = recorder.wait("fatal")
    assert "did not take it over within 0:00:00.200000" in str(error)
    assert (stage.info(task).state, stage.info(task).attempt) == (TaskState.READY, 0)
    assert stage.den.folder.count() == 0


def test_a_database_that_a_process_can_not_reach_costs_no_attempt(stage: Stage) -> None:
    """The task is given back, and the log says why, without the password (S2-B2, S2-B3)."""
    [task] = stage.push("export")
    recorder = Recorder()
    factory = stage.den.factory("quick", url="postgresql://me:s3cret@127.0.0.1:1/none")
    with running(stage.backend, stage.repository, factory, listener=recorder):
        [error] = recorder.wait("fatal")
    assert "ended with 105 (UNREACHABLE)" in str(error)
    assert (stage.info(task).state, stage.info(task).attempt) == (TaskState.READY, 0)
    assert "can't be reached" in stage.den.log(task)
    assert "s3cret" not in stage.den.log(task) + str(error)
    assert stage.den.imports() == 0


def test_secrets_are_not_on_the_command_line(stage: Stage) -> None:
    """The URL comes through a pipe, so that no list of processes shows it."""
    [task] = stage.push("export")
    with running(stage.backend, stage.repository, stage.den.factory("patient")):
        stage.den.expect("begun")
    line = Path(f"/proc/{stage.den.running().pid}/cmdline").read_text()
    assert stage.backend.url not in line
    assert f"topic-{task.sequence}" in line
    assert stage.backend.url not in stage.den.log(task)


def test_a_task_that_is_given_back_while_its_process_starts_is_not_run_by_it(stage: Stage) -> None:
    """A worker that leaves in a hurry releases what it holds; the process comes too late (S2-03, S2-09)."""
    stage.push("export")
    [task] = poll(stage.backend, stage.repository, stage.topic)
    with stage.backend.begin() as tx:
        stage.repository.release(tx, stage.topic, [task])
    [again] = poll(stage.backend, stage.repository, stage.topic)
    assert stage.den.ends(stage.den.child("quick", task)) == 100
    assert stage.den.imports() == 0
    assert stage.info(task).token == again.token
    complete(stage.backend, stage.repository, stage.topic, again)


def test_a_revived_task_is_not_run_by_its_first_process(stage: Stage) -> None:
    """One that was stopped by the system and wakes up later finds another claim (S2-B5, P2)."""
    [task] = stage.push("export", input="start")
    # So seldom that it does not beat, and hold what the test needs, in the moment when it is halted.
    factory = stage.den.factory("patient", heartbeat=timedelta(seconds=3))
    with running(stage.backend, stage.repository, factory) as manager:
        stage.den.expect("begun")
        first = stage.den.running()
        os.kill(first.pid, signal.SIGSTOP)
        try:
            stage.backend.age_owner(first.owner, 3600)
            with stage.backend.begin() as tx:
                stage.repository.expire(tx, timedelta(minutes=5))
            with stage.backend.begin() as tx:
                stage.repository.recreate_state(tx, stage.topic, Revivification.RESET, TaskState.EXPIRED)
            manager.resume()
            stage.den.expect("begun", 2)
        finally:
            os.kill(first.pid, signal.SIGCONT)
        stage.den.expect("stopping")
        second = stage.den.running()
        stage.den.go()
        found = stage.becomes(task, TaskState.SUCCEEDED)
    assert found.owner == second.owner != first.owner
    assert stage.den.notes("ended") == ["ended export"]


@pytest.mark.parametrize("own", [True, False])
def test_failures_are_tried_again_as_the_manager_says(stage: Stage, *, own: bool) -> None:
    """The process decides by the policy of the manager, or by that of the factory, rules included (S2-10)."""
    [task] = stage.push("export")
    again = RetryPolicy(3, timedelta(milliseconds=1), rules={ValueError: None})
    final = RetryPolicy(3, rules={ConnectionError: None})
    factory = stage.den.factory("flaky", **({"retry": again} if own else {}))
    retry = final if own else again
    manager = TaskManager(stage.topic, stage.repository, stage.backend.begin, factory, pause=SHORT, retry=retry)
    with Worker(stage.repository, stage.backend.begin, [manager], promotion=SHORT):
        assert stage.becomes(task, TaskState.SUCCEEDED).output == "done at attempt 2"


def test_a_rule_may_make_a_failure_final(stage: Stage) -> None:
    """Errors are known by their types in the process too (S2-10)."""
    [task] = stage.push("export")
    retry = RetryPolicy(3, timedelta(milliseconds=1), rules={OSError: None})
    with running(stage.backend, stage.repository, stage.den.factory("flaky"), retry=retry):
        found = stage.becomes(task, TaskState.FAILED)
    assert found.attempt == 1


def test_a_scheduled_task_is_there_before_it_runs(stage: Stage) -> None:
    """Everybody sees it from its push on; it is taken over when its time has come (S2-13)."""
    [task] = stage.push("export", due=timedelta(milliseconds=1))
    assert stage.info(task).state is TaskState.SUSPENDED
    manager = TaskManager(stage.topic, stage.repository, stage.backend.begin, stage.den.factory("quick"), pause=SHORT)
    with Worker(stage.repository, stage.backend.begin, [manager], promotion=SHORT):
        assert stage.becomes(task, TaskState.SUCCEEDED).output == "export is done"


def test_a_second_request_with_the_same_key_queues_nothing(stage: Stage) -> None:
    """The identifier is the key, whether the work runs or is done (S2-17)."""
    [task] = stage.push("export")
    with running(stage.backend, stage.repository, stage.den.factory("patient")):
        stage.den.expect("begun")
        assert stage.push("export", insertion=Insertion.UNIQUE) == [task]
        stage.den.go()
        stage.becomes(task, TaskState.SUCCEEDED)
        assert stage.push("export", insertion=Insertion.UNIQUE) == [task]
    assert stage.den.notes("begun") == ["begun export None"]


def test_a_topic_is_made_once_and_an_unknown_one_is_an_error(stage: Stage) -> None:
    """Its settings are the program's, and are checked when the factory is made (S2-16)."""
    with stage.backend.begin() as tx:
        assert stage.repository.initialize(tx, stage.topic) is False
    manager = TaskManager("unknown", stage.repository, stage.backend.begin, stage.den.factory("quick"))
    with pytest.raises(UnknownTopicError):
        Worker(stage.repository, stage.backend.begin, [manager]).start()
