"""PgBouncer between clients and server, where there is one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

import task_sql
from task_api import Insertion
from tests.fire.faults.bouncer import Bouncer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fire.faults.stage import Stage

PROGRAM = os.environ["TOPIQ_TEST_PGBOUNCER"]


@pytest.fixture
def bouncer(served: Stage, tmp_path: Path) -> Iterator[Bouncer]:
    """A pooler with a single session, before the proxy."""
    assert served.proxy is not None
    with Bouncer(Path(PROGRAM), served.proxy.port, tmp_path / "pgbouncer", size=1) as bouncer:
        yield bouncer


def test_transactions_of_different_clients_share_a_session(served: Stage, bouncer: Bouncer) -> None:
    """So that whatever a client leaves in its session would be another one's."""
    url = bouncer.through(served.url)
    with psycopg.connect(url, autocommit=True) as one, psycopg.connect(url, autocommit=True) as other:
        pids = [client.execute("SELECT pg_backend_pid()").fetchall() for client in (one, other, one)]
    assert pids[0] == pids[1] == pids[2]


def test_tasks_pass_through_it(served: Stage, bouncer: Bouncer) -> None:
    """Pushed, replaced, polled and completed by two who share a session."""
    engine = task_sql.create_engine(bouncer.through(served.url), connect_args={"prepare_threshold": None})
    one, other = (task_sql.create_repository(engine, owner=name) for name in ("one", "other"))
    with engine.begin() as tx:
        task_sql.schema.install(tx)
        one.initialize(tx, "topic")
        other.register(tx)
    for _ in range(10):
        with engine.begin() as tx:
            one.push(tx, "topic", "same", insertion=Insertion.REPLACE)
        with engine.begin() as tx:
            tasks = other.poll_many(tx, "topic", 10)
        with engine.begin() as tx:
            for task in tasks:
                other.complete(tx, "topic", task)
        assert len(tasks) == 1
    with engine.begin() as tx:
        task_sql.schema.uninstall(tx)
    engine.dispose()
