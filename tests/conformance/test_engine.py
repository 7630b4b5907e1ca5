"""The engine that the library makes, set up as its database needs it (DESIGN 3)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from task_sql import create_engine
from tests.backends import Backend
from tests.backends.steps import push
from tests.conformance.scenes import TIMEOUT, Repository
from tests.conformance.transactions import driver_columns, in_transaction


@pytest.mark.backends("sqlite")
@driver_columns
def test_the_engine_sets_sqlite_up(backend: Backend, repository: Repository, topic: str) -> None:
    """Readers do not wait for the log, writers wait for each other, foreign keys count (DESIGN 3)."""
    with backend.engine.connect() as tx:
        pragmas = {name: tx.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "foreign_keys")}
        waiting = tx.exec_driver_sql("PRAGMA busy_timeout").scalar()

    assert pragmas == {"journal_mode": "wal", "foreign_keys": 1}
    assert (waiting or 0) >= 5_000
    with ThreadPoolExecutor() as executor, backend.engine.begin() as first:
        assert in_transaction(first)  # as a writer, before any statement
        second = executor.submit(push, backend, repository, topic, "second")
        repository.push(first, topic, "first")
        first.commit()
        assert len(second.result(TIMEOUT)) == 1


@pytest.mark.parametrize("url", ["postgresql://host/name", "postgresql+psycopg://host/name"])
def test_a_plain_postgresql_url_means_psycopg(url: str) -> None:
    """Nobody has to know the names of drivers (DESIGN 3)."""
    engine = create_engine(url)

    assert (engine.dialect.name, engine.dialect.driver) == ("postgresql", "psycopg")
