"""The fixtures that every database test uses, and the one PostgreSQL server that all workers share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends import oracle_server, server
from tests.backends.backend import Backend
from tests.backends.columns import Column, select
from tests.backends.oracle import OracleBackend
from tests.backends.provision import DoubleProvision, OracleProvision, PostgresProvision, SqliteProvision
from tests.oracle.exceptions import EXCEPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from task_api import TaskRepository

_SERVER = pytest.StashKey[server.Server]()
_ORACLE = pytest.StashKey[oracle_server.OracleServer | None]()
_PLUGIN = Path(__file__).resolve().parent.parent / "oracle" / "plugin"
_WORKER_KEY = "topiq_postgresql_url"
_ON_ORACLE = frozenset({"conformance", "contention", "model", "schema", "oracle"})
"""The folders whose tests run on Oracle unless they say otherwise; what lies above the repositories says so itself."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers that choose a test's columns, and look for the Oracle server that is asked for."""
    config.addinivalue_line("markers", "backends(*names): run on these databases only: sqlite, postgresql, oracle")
    config.addinivalue_line(
        "markers", "kinds(*labels): run with these, all of them: connection, session, driver, plain"
    )

    try:
        config.stash[_ORACLE] = oracle_server.start()
    except RuntimeError as error:
        raise pytest.UsageError(*error.args) from error
    # The programs that tests start find the dialect of the double there.
    paths = [str(_PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    if config.stash[_ORACLE] and getattr(config.option, "numprocesses", None):
        message = "the Oracle server has one schema for all tests, so that they can't run in parallel: use -n 0"
        raise pytest.UsageError(message)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - pytest-xdist has no type for it
    """Start the server in the controlling process, which outlives the workers, and tell each its address."""
    node.workerinput[_WORKER_KEY] = _running_server(node.config).url


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers that this process started."""
    for running in (config.stash.get(_SERVER, None), config.stash.get(_ORACLE, None)):
        if running:
            running.stop()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what can't run on the double, where the double it is."""
    if config.stash[_ORACLE]:
        return
    left_out = [item for item in items if _column(item) == "oracle" and item.nodeid.partition("[")[0] in EXCEPTIONS]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _column(item: pytest.Item) -> str:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    column = parameters.get("backend")
    return column.database if isinstance(column, Column) else ""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a backend once in each column that its markers leave."""
    if "backend" not in metafunc.fixturenames:
        return
    names = {
        marker: {str(name) for mark in metafunc.definition.iter_markers(marker) for name in mark.args}
        for marker in ("backends", "kinds")
    }
    if not names["backends"] and metafunc.definition.path.parent.name not in _ON_ORACLE:
        names["backends"] = {"sqlite", "postgresql"}
    columns = select(names["backends"], names["kinds"], metafunc.definition.nodeid)
    metafunc.parametrize("backend", columns, indirect=True, ids=[column.name for column in columns])


@pytest.fixture(scope="session")
def postgresql_url(request: pytest.FixtureRequest) -> str:
    """The URL of the session's PostgreSQL server; asking for it starts the server."""
    workerinput: dict[str, str] | None = getattr(request.config, "workerinput", None)
    return workerinput[_WORKER_KEY] if workerinput else _running_server(request.config).url


@pytest.fixture(scope="session")
def postgresql_provision(postgresql_url: str) -> Iterator[PostgresProvision]:
    """This process's templates on the server."""
    provision = PostgresProvision(postgresql_url)
    yield provision
    provision.close()


@pytest.fixture(scope="session")
def oracle_provision(request: pytest.FixtureRequest) -> Iterator[OracleProvision | DoubleProvision]:
    """The schema of the Oracle server, or this process's templates behind the double."""
    running = request.config.stash[_ORACLE]
    provision = OracleProvision(running.url) if running else DoubleProvision(request.getfixturevalue("postgresql_url"))
    yield provision
    provision.close()


@pytest.fixture(scope="session")
def sqlite_provision(tmp_path_factory: pytest.TempPathFactory) -> SqliteProvision:
    """This process's template file."""
    return SqliteProvision(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """A database of the test's own with the schema installed, in each column of the suite."""
    column: Column = request.param
    if column.database == "sqlite":
        provision: SqliteProvision = request.getfixturevalue("sqlite_provision")
        yield from _lend(column, provision.create(tmp_path))
        return
    # Asked for by name, so that a run on SQLite alone starts no server.
    databases: PostgresProvision | OracleProvision = request.getfixturevalue(f"{column.database}_provision")
    # What takes longest about a topic is done once, in the template.
    topics = ("topic",) if "topic" in request.fixturenames else ()
    with databases.create(partitioned=column.partitioned, topics=topics) as url:
        yield from _lend(column, url)


@pytest.fixture
def repository(backend: Backend) -> TaskRepository[Any]:
    """A repository of the registered owner ``me``."""
    return backend.repository("me")


@pytest.fixture
def topic(backend: Backend, repository: TaskRepository[Any]) -> str:
    """The topic ``topic``, initialised."""
    with backend.begin() as transaction:
        repository.initialize(transaction, "topic")
    return "topic"


def _lend(column: Column, url: str) -> Iterator[Backend]:
    kind = OracleBackend if column.database == "oracle" else Backend
    backend = kind(name=column.database, partitioned=column.partitioned, kind=column.kind, url=url)
    try:
        yield backend
    finally:
        backend.finish()


def _running_server(config: pytest.Config) -> server.Server:
    if _SERVER not in config.stash:
        config.stash[_SERVER] = server.start()
    return config.stash[_SERVER]
