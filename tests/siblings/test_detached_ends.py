"""How a detached process ends: its exit codes, and what is in the database then."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from base64 import b64encode
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from task_api import TaskRepository, TaskState
from task_processor import RetryPolicy
from task_processor.detached.errand import packed
from task_processor.detached.exit import DetachedExit
from tests.backends.steps import complete, info, poll, push
from tests.siblings.detached_den import Den

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from task_api import Task, TaskInfo
    from tests.backends import Backend

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.timeout(200)]
BRISK: Any = {"heartbeat": 0.05}


@pytest.fixture
def den(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Den]:
    """The processes of the test."""
    monkeypatch.setenv("TOPIQ_TEST_DEN", str(tmp_path / "den"))
    den = Den(backend, tmp_path)
    try:
        yield den
    finally:
        den.clear()


class Held:
    """A task that ``me`` holds."""

    def __init__(self, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
        self.backend = backend
        self.repository = repository
        self.topic = topic
        push(backend, repository, topic, "export", input="start")
        [self.task] = poll(backend, repository, topic)

    @property
    def info(self) -> TaskInfo:
        """What is stored about it."""
        return info(self.backend, self.repository, self.topic, self.task)

    def eject(self) -> Task:
        """Take it from whoever holds it."""
        with self.backend.begin() as tx:
            return self.repository.eject(tx, self.topic, self.task)


@pytest.fixture
def held(backend: Backend, repository: TaskRepository[Any], topic: str) -> Held:
    """A task that ``me`` holds."""
    return Held(backend, repository, topic)


def test_exit_codes_stay_as_they_are() -> None:
    """Scripts know them (S2-06)."""
    assert {code.name: int(code) for code in DetachedExit} == {
        "DONE": 0,
        "DUPLICATE": 100,
        "RAISED": 101,
        "UNDECIDED": 102,
        "MISSING": 103,
        "BAD_FUNCTION": 104,
        "UNREACHABLE": 105,
        "STOPPED": 106,
    }


@pytest.mark.parametrize(
    ("function", "state", "output"),
    [
        ("quick", TaskState.SUCCEEDED, "export is done"),
        ("asynchronous", TaskState.SUCCEEDED, "export awaited"),
        ("choosing", TaskState.FILTERED, "export is no concern of ours"),
    ],
)
def test_what_the_function_gives_decides_the_task(
    den: Den, held: Held, function: str, state: TaskState, output: str
) -> None:
    """As in a worker; the decision is stored by the process (S2-06, S2-08)."""
    assert den.ends(den.child(function, held.task)) is DetachedExit.DONE
    assert (held.info.state, held.info.output, held.info.attempt) == (state, output, 1)


def test_work_may_decide_its_task_itself_together_with_its_effects(den: Den, held: Held) -> None:
    """What it returns then decides nothing (S2-08)."""
    held.backend.sql("CREATE TABLE effect (name VARCHAR(20))")
    assert den.ends(den.child("independent", held.task)) is DetachedExit.DONE
    assert (held.info.state, held.info.output) == (TaskState.FILTERED, "by itself")
    assert held.backend.sql("SELECT name FROM effect") == [("export",)]


def test_a_second_process_leaves_before_any_side_effect(den: Den, held: Held) -> None:
    """It has not even imported the function, and leaves no owner behind (S2-02, S2-03, S2-06, S2-11)."""
    first = den.child("patient", held.task)
    den.expect("begun")
    before = held.info, held.backend.sql("SELECT count(*) FROM task_owner")
    assert den.ends(den.child("patient", held.task)) is DetachedExit.DUPLICATE
    assert den.imports() == 1
    assert (held.info, held.backend.sql("SELECT count(*) FROM task_owner")) == before
    assert held.info.token == before[0].token
    den.go()
    assert den.ends(first) is DetachedExit.DONE
    assert den.notes() == ["begun export start", "ended export"]


def test_of_several_processes_that_start_at_once_one_works(den: Den, held: Held) -> None:
    """Looking takes nothing, so that no one is sent away by another that is sent away too (S2-02, S2-B1)."""
    den.go()
    processes = [den.child("patient", held.task) for _ in range(4)]
    codes = [den.ends(process) for process in processes]
    # Those that come when all is done already find that.
    assert set(codes) <= {DetachedExit.DONE, DetachedExit.DUPLICATE}
    assert den.notes() == ["begun export start", "ended export"]
    assert held.info.state is TaskState.SUCCEEDED


def test_a_task_that_is_done_already_is_a_success(den: Den, held: Held) -> None:
    """Without running it again (S2-05)."""
    complete(held.backend, held.repository, held.topic, held.task)
    assert den.ends(den.child("quick", held.task)) is DetachedExit.DONE
    assert den.imports() == 0


def test_a_task_that_was_given_back_is_not_taken(den: Den, held: Held) -> None:
    """Nobody holds it who could have sent a process (S2-03)."""
    with held.backend.begin() as tx:
        held.repository.release(tx, held.topic, [held.task])
    assert den.ends(den.child("quick", held.task)) is DetachedExit.DUPLICATE
    assert den.imports() == 0
    assert (held.info.state, held.info.token) == (TaskState.READY, held.task.token)


def test_a_missing_task_has_a_code_of_its_own(den: Den, held: Held) -> None:
    """Nothing is adopted that does not exist (S2-B2)."""
    with held.backend.begin() as tx:
        held.repository.purge_all(tx, held.topic)
    assert den.ends(den.child("quick", held.task)) is DetachedExit.MISSING
    assert den.ends(den.child("quick", held.task, topic="unknown")) is DetachedExit.MISSING
    assert den.imports() == 0


@pytest.mark.backends("sqlite")
def test_a_database_without_the_schema_has_a_code_of_its_own(den: Den, held: Held, tmp_path: Path) -> None:
    """The process goes no further than to its first statement (S2-B2, S2-B3)."""
    url = f"sqlite:///{tmp_path}/empty.db"
    assert den.ends(den.child("quick", held.task, url=url)) is DetachedExit.UNREACHABLE
    assert den.imports() == 0
    assert "schema" in den.log(held.task)


@pytest.mark.backends("sqlite")
@pytest.mark.parametrize("url", ["postgresql://me:s3cret@127.0.0.1:1/none", "mysql://me:s3cret@localhost/none"])
def test_a_database_that_is_away_has_a_code_of_its_own(den: Den, held: Held, url: str) -> None:
    """The process goes no further, and says why without the password (S2-B2, S2-B3)."""
    assert den.ends(den.child("quick", held.task, url=url)) is DetachedExit.UNREACHABLE
    assert den.imports() == 0
    assert den.log(held.task)
    assert "s3cret" not in den.log(held.task)


def test_a_function_that_raises_fails_its_task(den: Den, held: Held) -> None:
    """With message and trace, committed before the process ends, and in the log (S2-06, S2-07, S2-B4)."""
    assert den.ends(den.child("raising", held.task)) is DetachedExit.RAISED
    found = held.info
    assert found.state is TaskState.FAILED
    assert "Traceback" in str(found.output)
    assert str(found.output).endswith("ValueError: no export for export")
    assert "ValueError: no export for export" in den.log(held.task)


def test_a_function_that_raises_is_tried_again_if_so_wanted(den: Den, held: Held) -> None:
    """The policy counts in the process, which alone can decide (S2-07, S2-10)."""
    retry = packed(RetryPolicy(2, timedelta(hours=1)))
    assert den.ends(den.child("raising", held.task, retry=retry)) is DetachedExit.RAISED
    found = held.info
    assert found.state is TaskState.SUSPENDED
    assert found.due is not None


@pytest.mark.backends("sqlite")
def test_a_policy_that_can_not_be_read_makes_a_failure_final(den: Den, held: Held) -> None:
    """As after a deploy that took away one of its errors; the task is decided all the same (S2-07)."""
    retry = b64encode(b"cno_such_module\nError\n.").decode()
    assert den.ends(den.child("raising", held.task, retry=retry)) is DetachedExit.RAISED
    assert held.info.state is TaskState.FAILED


def test_work_that_leaves_without_being_asked_has_failed(den: Den, held: Held) -> None:
    """Giving back would start it again and again (S2-06)."""
    assert den.ends(den.child("leaving", held.task)) is DetachedExit.RAISED
    assert held.info.state is TaskState.FAILED


def test_a_function_that_gives_no_decision_fails_its_task(den: Den, held: Held) -> None:
    """With the code for an end without a decision (S2-06)."""
    assert den.ends(den.child("odd", held.task)) is DetachedExit.UNDECIDED
    assert held.info.state is TaskState.FAILED
    assert "an outcome must be a decision, text or error, not int" in str(held.info.output)


@pytest.mark.backends("sqlite")
@pytest.mark.parametrize("function", ["missing", "not_callable", "none", "three"])
def test_a_function_that_is_gone_fails_its_task(den: Den, held: Held, function: str) -> None:
    """As after a deploy that took it away (S2-B2)."""
    assert den.ends(den.child(function, held.task)) is DetachedExit.BAD_FUNCTION
    assert held.info.state is TaskState.FAILED
    assert function in str(held.info.output)


def test_a_stopped_process_gives_its_task_back(den: Den, held: Held) -> None:
    """READY, the attempt not counted, so that whoever polls it next goes on (S2-14)."""
    process = den.child("patient", held.task)
    den.expect("begun")
    den.running().stop()
    assert den.ends(process) is DetachedExit.STOPPED
    assert den.notes() == ["begun export start", "stopping export"]
    assert (held.info.state, held.info.attempt) == (TaskState.READY, 0)
    assert den.folder.count() == 0


def test_a_checkpoint_is_where_a_stopped_process_ends(den: Den, held: Held) -> None:
    """It is stored, and raises what need not be handled (S2-14)."""
    process = den.child("checking", held.task)
    den.expect("begun")
    den.running().stop()
    assert den.ends(process) is DetachedExit.STOPPED
    assert (held.info.state, held.info.input, held.info.attempt) == (TaskState.READY, "export at work", 0)


def test_work_that_ends_within_its_grace_is_decided(den: Den, held: Held) -> None:
    """It need not be done again."""
    process = den.child("conscientious", held.task)
    den.expect("begun")
    den.running().stop()
    assert den.ends(process) is DetachedExit.DONE
    assert (held.info.state, held.info.output) == (TaskState.SUCCEEDED, "finished after all")


def test_work_that_does_not_ask_is_ended_with_its_grace(den: Den, held: Held) -> None:
    """Its task is given back all the same."""
    process = den.child("stubborn", held.task, grace=0.1)
    den.expect("begun")
    den.running().stop()
    assert den.ends(process) is DetachedExit.STOPPED
    assert (held.info.state, held.info.attempt) == (TaskState.READY, 0)
    assert den.notes() == ["begun export start"]


def test_work_that_hears_signals_of_its_own_can_be_stopped(den: Den, held: Held) -> None:
    """Once, however it is heard."""
    process = den.child("listening", held.task)
    den.expect("begun")
    den.running().stop()
    assert den.ends(process) is DetachedExit.STOPPED
    assert (held.info.state, held.info.attempt) == (TaskState.READY, 0)
    assert "did not end by itself" not in den.log(held.task)


@pytest.mark.backends("sqlite")
def test_work_without_any_output_is_ended_all_the_same(den: Den, held: Held) -> None:
    """Nothing that it did to its streams keeps the process from ending."""
    process = den.child("speechless", held.task, grace=0.1)
    den.expect("begun")
    den.running().stop()
    assert den.ends(process) is DetachedExit.STOPPED


@pytest.mark.backends("sqlite")
def test_times_may_be_as_long_as_one_likes(den: Den, held: Held) -> None:
    """Longer than the system can wait at once."""
    long = timedelta(days=365).total_seconds()
    process = den.child("patient", held.task, expiry=long, grace=long)
    den.expect("begun")
    den.running().stop()
    assert den.ends(process) is DetachedExit.STOPPED


def test_a_second_request_ends_the_grace(den: Den, held: Held) -> None:
    """As with a worker."""
    process = den.child("stubborn", held.task, grace=3600.0)
    den.expect("begun")
    den.running().stop()
    den.eventually(lambda: "asked to stop" in den.log(held.task))
    den.running().stop()
    assert den.ends(process) is DetachedExit.STOPPED
    assert held.info.state is TaskState.READY


def test_a_process_that_lingers_after_its_work_can_be_stopped(den: Den, held: Held) -> None:
    """Its task is decided, and nothing else is left to be given back."""
    process = den.child("lingering", held.task)
    den.eventually(lambda: held.info.state is TaskState.SUCCEEDED)
    den.eventually(lambda: process.poll() is not None or _stopped(den))
    assert den.ends(process) == -signal.SIGTERM
    assert held.info.state is TaskState.SUCCEEDED


def test_kill_ends_the_whole_group(den: Den, held: Held) -> None:
    """Programs that the work has called included; the task is left to expire (S2-04)."""
    process = den.child("with_a_program", held.task)
    [line] = den.expect("program")
    program = int(line.split()[1])
    assert os.getpgid(program) == process.pid
    den.running().kill()
    assert den.ends(process) == -signal.SIGKILL
    den.eventually(lambda: _gone(program))
    assert held.info.state is TaskState.ACTIVE
    assert den.folder.count() == 0


def test_processes_that_work_leaves_behind_take_no_room(den: Den, held: Held) -> None:
    """The lock on the process's file is its own alone (S2-04)."""
    assert den.ends(den.child("with_a_fork", held.task)) is DetachedExit.DONE
    [line] = den.notes("fork")
    assert not _gone(int(line.split()[1]))
    assert den.folder.count() == 0
    den.go()
    den.eventually(lambda: _gone(int(line.split()[1])))


@pytest.mark.backends("sqlite")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_processes_of_processes_of_the_work_keep_their_files(den: Den, held: Held) -> None:
    """The lock is taken away from a process once: then its number may be that of another file."""
    assert den.ends(den.child("with_a_fork_of_a_fork", held.task)) is DetachedExit.DONE
    assert den.notes("files") == ["files 20"]


def test_signals_to_processes_of_the_work_are_theirs(den: Den, held: Held) -> None:
    """A pool that ends its processes does not stop the work."""
    assert den.ends(den.child("with_forks", held.task)) is DetachedExit.DONE
    assert den.notes("fork ended") == [f"fork ended {-signal.SIGTERM}"] * 20
    assert held.info.state is TaskState.SUCCEEDED


def test_an_ejected_process_stops_and_writes_nothing(den: Den, held: Held) -> None:
    """Its heartbeat finds out, and the work can ask (S2-B5)."""
    process = den.child("patient", held.task, **BRISK)
    den.expect("begun")
    taken = held.eject()
    assert den.ends(process) is DetachedExit.UNDECIDED
    assert den.notes() == ["begun export start", "stopping export"]
    assert (held.info.state, held.info.owner, held.info.token) == (TaskState.ACTIVE, "me", taken.token)
    complete(held.backend, held.repository, held.topic, taken)


def test_an_ejected_process_whose_work_does_not_ask_is_ended(den: Den, held: Held) -> None:
    """Whatever it does, and without giving back what is not its own (S2-B5)."""
    process = den.child("stubborn", held.task, grace=0.1, **BRISK)
    den.expect("begun")
    taken = held.eject()
    assert den.ends(process) is DetachedExit.UNDECIDED
    assert den.notes() == ["begun export start"]
    assert (held.info.state, held.info.token) == (TaskState.ACTIVE, taken.token)


def test_what_an_ejected_process_writes_is_rolled_back(den: Den, held: Held) -> None:
    """A checkpoint checks the claim, and so do the effects that commit with it (S2-B5, P2)."""
    held.backend.sql("CREATE TABLE effect (name VARCHAR(20))")
    process = den.child("greedy", held.task)
    den.expect("begun")
    taken = held.eject()
    den.go()
    assert den.ends(process) is DetachedExit.UNDECIDED
    assert held.backend.sql("SELECT name FROM effect") == []
    assert (held.info.state, held.info.input, held.info.token) == (TaskState.ACTIVE, "start", taken.token)


def test_a_process_that_is_silent_for_too_long_stops(den: Den, held: Held) -> None:
    """It can't know whether the task is still its own, even where its heartbeat hangs (S2-B5)."""
    process = den.child("patient", held.task, expiry=1.0, **BRISK)
    den.expect("begun")
    with closing(_connection(held.backend)) as connection:
        if held.backend.name == "sqlite":
            connection.execute("BEGIN IMMEDIATE")
        else:
            connection.execute("LOCK TABLE task_owner")
        assert den.ends(process) is DetachedExit.UNDECIDED
        connection.rollback()
    assert den.notes() == ["begun export start", "stopping export"]
    assert held.info.state is TaskState.ACTIVE


def test_a_lease_is_extended(den: Den, held: Held) -> None:
    """And without the process it ends (S2-04, S2-B5)."""
    den.child("patient", held.task, lease=3600.0, **BRISK)
    den.expect("begun")
    first = held.info.lease
    assert first is not None
    den.eventually(lambda: held.info.lease is not None and held.info.lease > first)
    den.running().kill()
    den.eventually(lambda: den.folder.count() == 0)
    held.backend.sql("UPDATE task SET lease = polled")
    with held.backend.begin() as tx:
        assert held.repository.expire(tx, timedelta(days=1)) == 1


@pytest.mark.backends("postgresql")
def test_work_that_has_its_task_locked_does_not_silence_its_process(den: Den, held: Held) -> None:
    """The lease waits for the work's transaction, the heartbeat does not, and both go on after it (S2-B5)."""
    process = den.child("locking", held.task, lease=2.0, expiry=5.0, **BRISK)
    den.expect("locked")
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    den.eventually(lambda: held.backend.sql(waiting))
    owner, lease = den.running().owner, held.info.lease
    held.backend.age_owner(owner, 3600)
    den.eventually(lambda: held.backend.sql("SELECT 1 WHERE now() > :lease", lease=lease))
    with held.backend.begin() as tx:
        assert owner in held.repository.owners(tx, timedelta(minutes=1))
    # Long enough that the lease which waits is over, too, if it counts from when it began to wait.
    den.eventually(lambda: held.backend.sql("SELECT 1 WHERE now() > :lease + interval '2 seconds'", lease=lease))
    den.go()
    den.expect("unlocked")
    with held.backend.begin() as tx:
        assert held.repository.expire(tx, timedelta(minutes=1)) == 0
    den.running().stop()
    assert den.ends(process) is DetachedExit.DONE
    assert (held.info.state, held.info.input) == (TaskState.SUCCEEDED, "half way")


@pytest.mark.backends("postgresql")
def test_a_restart_of_the_database_is_waited_for(den: Den, held: Held) -> None:
    """A connection that was cut costs neither the work nor its decision (S2-B5)."""
    # So seldom a heartbeat that the decision is the first to find out.
    process = den.child("patient", held.task)
    den.expect("begun")
    cut = held.backend.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'topiq'"
    )
    assert cut == [(True,)]
    den.go()
    assert den.ends(process) is DetachedExit.DONE
    assert held.info.state is TaskState.SUCCEEDED


def _connection(backend: Backend) -> Any:  # noqa: ANN401 - a driver's
    if backend.name == "sqlite":
        return sqlite3.connect(backend.dsn, isolation_level=None, timeout=30)
    return psycopg.connect(backend.dsn)


def _stopped(den: Den) -> bool:
    """Ask the one process to stop; as long as it is about to leave it may not hear."""
    den.running().stop()
    return False


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # One that nobody has waited for yet is gone all the same.
    return any(line.startswith("State:\tZ") for line in _status(pid))


def _status(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:  # noqa: PTH123 - short
            return file.readlines()
    except OSError:
        return ["State:\tZ"]
