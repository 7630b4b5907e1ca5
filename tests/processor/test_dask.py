"""Work on a dask cluster: real schedulers and workers on this machine."""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from task_api import Claim, TaskRepository, TaskState
from task_processor import each
from tests.backends.steps import push
from tests.processor.support import Recorder, running
from tests.processor.test_executors import (
    FORMS,
    ONE_BY_ONE,
    Counting,
    be_awkward,
    check,
    die,
    finish,
    found,
    work,
    work_on_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
claims = pytest.mark.parametrize("claim", Claim)
Client: TypeAlias = Any
"""dask's client, and all that it gives, has no types."""
dask: Any = importlib.import_module("dask")
distributed: Any = importlib.import_module("distributed")


def start(*, processes: bool) -> Client:
    """A cluster of two workers with one thread each, and its client."""
    cluster = distributed.LocalCluster(
        processes=processes,
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )
    return distributed.Client(cluster)


def end(client: Client) -> None:
    """Close a client and its cluster."""
    cluster = client.cluster
    client.close()
    cluster.close()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A cluster whose workers are processes."""
    client = start(processes=True)
    yield client
    end(client)


@pytest.mark.parametrize("form", FORMS)
@claims
def test_all_forms_of_work_run_on_a_cluster(
    backend: Backend, repository: Repository, topic: str, *, client: Client, form: str, claim: Claim
) -> None:
    """Decisions, texts and errors come back from the cluster's processes (DESIGN 5)."""
    push(backend, repository, topic, "good", "bad", "skip", "fine")
    executor = client.get_executor(pure=False)
    finish(backend, repository, FORMS[form](work, work_on_all), executor=executor, claim=claim)
    check(found(backend, repository, topic), elsewhere=True)


def test_an_error_that_can_not_travel_fails_its_task_alone(
    backend: Backend, repository: Repository, topic: str, client: Client
) -> None:
    """What it said is told, and the others succeed (TM-27)."""
    push(backend, repository, topic, "awkward", "with it")
    finish(backend, repository, each(be_awkward), executor=client.get_executor(pure=False))
    outcome = found(backend, repository, topic)
    assert outcome["awkward"][0] == TaskState.FAILED
    assert "awkward and rude" in outcome["awkward"][1]
    assert outcome["with it"][0] == TaskState.SUCCEEDED


@pytest.mark.backends("sqlite")
def test_work_that_kills_its_workers_fails_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """The cluster gives up on it and does the rest on other workers (TM-27, P1)."""
    push(backend, repository, topic, "deadly", "with it", "after it")
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        client = start(processes=True)
        try:
            finish(backend, repository, each(die), executor=client.get_executor(pure=False), size=2)
        finally:
            end(client)
    outcome = found(backend, repository, topic)
    assert outcome["deadly"][0] == TaskState.FAILED
    assert "KilledWorker" in outcome["deadly"][1]
    assert {outcome[name][0] for name in ("with it", "after it")} == {TaskState.SUCCEEDED}


def cancel(_: Client, executor: Client) -> None:
    """Give up all work of an executor."""
    executor.shutdown(wait=False)


def leave(client: Client, _: Client) -> None:
    """Part with the cluster."""
    client.close()


def vanish(client: Client, _: Client) -> None:
    """Take the cluster away."""
    client.cluster.close()


@pytest.mark.backends("sqlite")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("away", [cancel, leave, vanish])
@claims
def test_a_cluster_that_goes_away_fails_the_batch(
    backend: Backend,
    repository: Repository,
    topic: str,
    *,
    form: str,
    away: Callable[[Client, Client], None],
    claim: Claim,
) -> None:
    """Work that it has not done does not succeed, and none stays claimed (TM-19, P1)."""
    push(backend, repository, topic, "one", "two")
    recorder = Recorder()
    client = start(processes=False)
    try:
        # No worker has what this asks for, so that it is never begun.
        executor = client.get_executor(pure=False, resources={"patience": 1})
        counting = Counting(executor)
        factory = FORMS[form](work, work_on_all)
        with running(backend, repository, factory, executor=counting, listener=recorder, claim=claim):
            counting.wait(2 if form in ONE_BY_ONE else 1)
            away(client, executor)
            recorder.wait("dispatched")
    finally:
        end(client)
    for state, output in found(backend, repository, topic).values():
        assert (state, "CancelledError" in output) == (TaskState.FAILED, True)
