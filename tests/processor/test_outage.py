"""A worker whose database goes away, and comes back."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from task_api import Claim, Task, TaskRepository, TaskState
from task_processor import RetryPolicy, TaskLimiter, TaskManager, TaskToken, Worker, each
from tests.backends.steps import info, push, states
from tests.processor.support import BRISK, LONG, PATIENCE, Gate, Recorder, Shaky, eventually, working

if TYPE_CHECKING:
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
claims = pytest.mark.parametrize("claim", Claim)


def nothing(_: Task) -> None:
    """Succeed."""


def threads() -> set[str]:
    """The threads of the worker and its processors."""
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("task-")}


def done(backend: Backend, repository: Repository, topic: str) -> bool:
    """Whether all tasks succeeded; the test's own connections may have been cut too."""
    try:
        return set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}
    except psycopg.OperationalError:
        return False


@claims
def test_everything_goes_on_when_the_database_is_back(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """No thread ends; beats, polls and promotions are back by themselves (TM-21, OW-03, DESIGN 5)."""
    shaky, recorder = Shaky(backend), Recorder()
    options = {"listener": recorder, "claim": claim}
    with working(shaky, repository, each(nothing), options=options) as worker:  # type: ignore[arg-type]
        recorder.wait("empty")
        before = threads()
        shaky.down.set()
        eventually(lambda: {"the heartbeat", "reviving tasks", "promoting tasks"} <= worker.health.errors.keys())
        push(backend, repository, topic, "a")
        push(backend, repository, topic, "due", due=timedelta())
        shaky.down.clear()
        eventually(lambda: worker.health.topics[topic].completed == 2)
        eventually(lambda: not worker.health.errors)
        assert (worker.healthy, before - threads()) == (True, set())


def test_what_became_due_meanwhile_is_promoted_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """The first heartbeat that succeeds has all other upkeep done, however long its pauses are (OW-03, DESIGN 5)."""
    shaky, recorder = Shaky(backend), Recorder()
    options = {"listener": recorder}
    with working(shaky, repository, each(nothing), options=options, promotion=LONG) as worker:  # type: ignore[arg-type]
        eventually(lambda: not worker.health.errors and recorder.names(without=()) == ["empty"])
        shaky.down.set()
        eventually(lambda: "the heartbeat" in worker.health.errors)
        push(backend, repository, topic, "due", due=timedelta())
        shaky.down.clear()
        recorder.wait("complete")


def test_a_worker_that_can_not_beat_is_not_healthy(backend: Backend, repository: Repository, topic: str) -> None:
    """Once others may take its tasks, a probe sees it (OW-05)."""
    shaky = Shaky(backend)
    expiry = timedelta(milliseconds=300)
    with working(shaky, repository, each(nothing), topic=topic, expiry=expiry) as worker:  # type: ignore[arg-type]
        assert worker.healthy is True
        shaky.down.set()
        eventually(lambda: not worker.healthy)
        health = worker.health
        assert (health.alive, (health.beat_age or timedelta()) > expiry) == (True, True)
        shaky.down.clear()
        eventually(lambda: worker.healthy)


@pytest.mark.parametrize("form", ["free", "busy", "stopped"])
def test_what_could_not_be_decided_is_released_by_the_worker(
    backend: Backend, repository: Repository, topic: str, form: str
) -> None:
    """Never ACTIVE for ever under a beating owner, also if its loop waits or has ended (TM-20, DESIGN 5)."""
    shaky, recorder, limiter = Shaky(backend), Recorder(), TaskLimiter.bounded(1)
    [task] = push(backend, repository, topic, "a")
    slots: list[TaskToken] = []

    def work(_: Task) -> None:
        if not slots:
            # Another topic waits for the slot of this batch.
            slots.append(limiter.request("other"))
            shaky.down.set()

    options = {"listener": recorder, "limiter": limiter}
    with working(shaky, repository, each(work), options=options) as worker:  # type: ignore[arg-type]
        recorder.wait("error")
        assert info(backend, repository, topic, task).state is TaskState.ACTIVE
        if form == "free":
            slots[0].release()
        if form == "stopped":
            worker.processors[topic].stop()
        shaky.down.clear()
        if form != "free":
            eventually(lambda: info(backend, repository, topic, task).state is TaskState.READY)
            assert info(backend, repository, topic, task).attempt == 0
            slots[0].release()
        if form != "stopped":
            recorder.wait("complete")


@claims
def test_a_worker_can_stop_while_the_database_is_away(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """It ends in time, and what it could not give back expires (OW-05, DESIGN 5)."""
    shaky, recorder = Shaky(backend), Recorder()
    push(backend, repository, topic, "a")
    with Gate() as gate:
        manager = TaskManager(
            topic, repository, shaky.begin, each(gate.pass_through), listener=recorder, pause=LONG, claim=claim
        )
        worker = Worker(repository, shaky.begin, [manager], **BRISK, grace=timedelta(milliseconds=100))
        worker.start()
        gate.wait()
        shaky.down.set()
        shaky.commits_fail.set()
        with suppress(TimeoutError):
            worker.stop()
        assert worker.active is False
        gate.open()
        eventually(lambda: not manager.active)
    eventually(lambda: not threads())
    expected = TaskState.ACTIVE if claim is Claim.COMMITTED else TaskState.READY
    assert list(states(backend, repository, topic).values()) == [expected]


@claims
@pytest.mark.backends("postgresql")
def test_cut_connections_cost_nothing(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """The server ends sessions again and again; every effect is there once in the end (P1, P2, TM-19, TM-21)."""
    with backend.begin() as tx:
        repository.initialize(tx, "effects")
    number, cuts = 60, threading.Semaphore(0)
    push(backend, repository, topic, *map(str, range(number)))

    def work(task: Task, tx: Transaction) -> None:
        repository.push(tx, "effects", task.identifier)
        cuts.release()

    options = {
        "claim": claim,
        "size": 2,
        "pause": timedelta(milliseconds=10),
        "retry": RetryPolicy(1000, timedelta()),
    }
    with working(backend, repository, each(work), options=options) as worker:
        before = threads()
        for _ in range(5):
            assert cuts.acquire(timeout=PATIENCE)
            backend.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        eventually(lambda: done(backend, repository, topic))
        eventually(lambda: worker.healthy and not worker.health.errors)
        assert before - threads() == set()
    with backend.begin() as tx:
        effects = repository.page(tx, "effects", size=1000)
    assert sorted(effect.identifier for effect in effects) == sorted(map(str, range(number)))


@pytest.mark.backends("postgresql")
def test_a_database_that_takes_no_connections_is_waited_for(
    backend: Backend, repository: Repository, topic: str, postgresql_url: str
) -> None:
    """All sessions are cut and none is let in; then all goes on by itself (TM-20, TM-21, OW-03, DESIGN 5)."""
    database = str(psycopg.conninfo.conninfo_to_dict(backend.dsn)["dbname"])
    name = sql.Identifier(database)
    recorder = Recorder()
    push(backend, repository, topic, "a", "b")
    with (
        Gate() as gate,
        working(backend, repository, each(gate.pass_through), options={"listener": recorder, "size": 1}) as worker,
        psycopg.connect(postgresql_url, autocommit=True) as server,
    ):
        gate.wait()
        before = threads()
        server.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        try:
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])
            eventually(lambda: "the heartbeat" in worker.health.errors)
            gate.open()
            recorder.wait("error")
        finally:
            server.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
        eventually(lambda: done(backend, repository, topic))
        assert (worker.health.alive, before - threads()) == (True, set())
