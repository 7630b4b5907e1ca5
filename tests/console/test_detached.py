"""``topiq detached``, and what ``topiq show`` tells of detached processes."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from task_api import TaskRepository, TaskState
from task_processor.detached.folder import DetachedProcess
from tests.backends.steps import info, poll, push
from tests.console.calls import Topiq, failure, invoke
from tests.siblings.detached_den import Den

if TYPE_CHECKING:
    from collections.abc import Iterator

    from task_api import Task
    from tests.backends import Backend

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql"), pytest.mark.timeout(200)]


@pytest.fixture
def den(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Den]:
    """The processes of the test, whose folder the command line knows."""
    monkeypatch.setenv("TOPIQ_TEST_DEN", str(tmp_path / "den"))
    monkeypatch.setenv("TOPIQ_LOGS", str(tmp_path / "logs"))
    den = Den(backend, tmp_path)
    try:
        yield den
    finally:
        den.clear()


@pytest.fixture
def held(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Task]:
    """Two tasks that ``me`` holds."""
    push(backend, repository, topic, "a", "b")
    return poll(backend, repository, topic, 2)


def test_show_tells_the_log(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], den: Den, held: list[Task]
) -> None:
    """While the process runs, when the task is decided, and never for a task that ran elsewhere (S2-18)."""
    task = held[0]
    process = den.child("patient", task)
    den.expect("begun")
    log = den.folder.log("topic", task.sequence)
    assert ["log", str(log)] in topiq.lines("show", "topic", task.sequence)
    den.go()
    den.ends(process)
    shown = topiq.json("show", "topic", task.sequence)
    assert (shown["state"], shown["log"]) == ("SUCCEEDED", str(log))
    assert "patient begins as owner" in Path(shown["log"]).read_text()
    assert "log" not in topiq.json("show", "topic", held[1].sequence)
    with backend.begin() as tx:
        repository.release(tx, "topic", [held[1]])


def test_list_shows_what_runs(topiq: Topiq, den: Den, held: list[Task]) -> None:
    """And nothing that does not (S2-18)."""
    assert topiq("detached", "list") == "No detached process runs.\n"
    for task in held:
        den.child("patient", task)
        den.expect(f"begun {task.identifier}")
    lines = topiq.lines("detached", "list")
    assert lines[0] == ["topic", "sequence", "identifier", "pid", "host", "started", "log"]
    assert [line[:3] for line in lines[1:]] == [["topic", str(task.sequence), task.identifier] for task in held]
    [first, second] = topiq.json("detached", "list")
    assert (first["host"], first["function"].rpartition(":")[2]) == (socket.gethostname(), "patient")
    assert second["log"] == str(den.folder.log("topic", held[1].sequence))
    assert os.getpgid(first["pid"]) == first["pid"]


def test_stop_gives_the_task_back(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], den: Den, held: list[Task]
) -> None:
    """Of those named; the command ends when they have."""
    processes = [den.child("patient", task) for task in held]
    den.expect("begun", 2)
    task, other = held
    said = topiq("detached", "stop", "topic", task.sequence)
    assert said == f"topic {task.sequence} (process {processes[0].pid}) has been stopped\n"
    assert den.ends(processes[0]) == 106
    now = info(backend, repository, "topic", task)
    assert (now.state, now.attempt) == (TaskState.READY, 0)
    assert info(backend, repository, "topic", other).state is TaskState.ACTIVE
    stopped = topiq.json("detached", "stop", "--all")["stopped"]
    assert stopped == [{"topic": "topic", "sequence": other.sequence, "pid": processes[1].pid}]
    assert topiq("detached", "stop", "topic", "--all") == "No detached process runs.\n"


def test_kill_leaves_the_task_to_expire(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], den: Den, held: list[Task]
) -> None:
    """Whatever the work does; its heartbeat is missed."""
    process = den.child("stubborn", held[0])
    den.expect("begun")
    owner = den.running().owner
    assert topiq.json("detached", "kill", "topic", held[0].sequence) == {
        "killed": [{"topic": "topic", "sequence": held[0].sequence, "pid": process.pid}]
    }
    assert den.ends(process) == -9
    assert info(backend, repository, "topic", held[0]).state is TaskState.ACTIVE
    backend.age_owner(owner, 3600)
    with backend.begin() as tx:
        repository.expire(tx, timedelta(minutes=5))
    assert info(backend, repository, "topic", held[0]).state is TaskState.EXPIRED


def test_a_process_that_takes_its_time_is_told(topiq: Topiq, den: Den, held: list[Task]) -> None:
    """It has heard, and its grace goes on."""
    process = den.child("stubborn", held[0], grace=3600.0)
    den.expect("begun")
    code, line = topiq.fails("detached", "stop", "topic", held[0].sequence, "--timeout", "0s")
    name = f"topic {held[0].sequence} (process {process.pid})"
    assert (code, line) == (1, f"still there after 0:00:00: {name}; it was told, and may yet end")
    den.eventually(lambda: "asked to stop" in den.log(held[0]))


@pytest.mark.parametrize("command", ["stop", "kill"])
def test_a_process_that_ends_by_itself_is_gone(
    topiq: Topiq, den: Den, held: list[Task], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Also between the look and the signal: that is what was wanted, and the others are waited for."""
    processes = {child.pid: child for child in (den.child("patient", task) for task in held)}
    den.expect("begun", 2)
    ended: list[int] = []

    def end_first(process: DetachedProcess) -> None:
        if not ended:
            ended.append(process.pid)
            processes[process.pid].kill()
            den.ends(processes[process.pid])
        signal(process)

    signal = getattr(DetachedProcess, command)
    monkeypatch.setattr(DetachedProcess, command, end_first)
    assert len(topiq.lines("detached", command, "--all")) == 2
    assert den.folder.count() == 0


def test_a_process_that_can_not_be_told_is_told_in_the_end(topiq: Topiq, den: Den, held: list[Task]) -> None:
    """When the others are gone, which were told (S2-15)."""
    den.child("patient", held[0])
    den.expect("begun")
    far = replace(den.running(), host="elsewhere", owner="far", pid=1)
    file = den.folder.reserve("topic", held[1], 2)
    assert file is not None
    try:
        far.write(file)
        code, line = topiq.fails("detached", "stop", "--all")
        assert [each.owner for each in den.folder.running()] == ["far"]
    finally:
        os.close(file)
    name = f"topic {held[0].sequence} (process 1)"
    assert (code, line) == (1, f"can't stop {name}: it runs on elsewhere, this is {socket.gethostname()}")


@pytest.mark.usefixtures("den")
@pytest.mark.parametrize("command", ["stop", "kill"])
def test_mistakes_are_told(topiq: Topiq, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither or both ways to name processes, unknown ones, and a folder that is not there."""
    assert topiq.fails("detached", command) == (2, "name the topic and the sequences of the tasks, or pass --all")
    assert topiq.fails("detached", command, "topic")[0] == 2
    assert topiq.fails("detached", command, "topic", 1, "--all")[0] == 2
    code, line = topiq.fails("detached", command, "topic", 99)
    assert code == 5
    assert line.startswith("no detached process works on task 99 of topic 'topic'; `topiq detached list`")
    assert topiq.fails("detached", command, "--all", "--logs", tmp_path / "none")[0] == 2
    assert not (tmp_path / "none").exists()
    monkeypatch.delenv("TOPIQ_LOGS")
    code, line = failure(invoke("detached", "list"))
    assert (code, line) == (2, "no folder: pass --logs or set TOPIQ_LOGS to the folder of the logs")
