"""Installing, upgrading, removing and rendering the schema."""

from contextlib import closing
from itertools import product
from typing import Any

import psycopg
import pytest

from task_api import InvalidTaskError, SchemaError, TaskState
from task_sql import PostgresTaskRepository, schema
from tests.backends import Backend
from tests.backends.steps import push, states
from tests.conformance.scenes import Repository, run
from tests.schema.tables import at_once, catalogue, execute

LAYOUTS = [
    dict(zip(("partitioned", "pretty", "notify"), flags, strict=True)) for flags in product([True, False], repeat=3)
]
every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: "-".join(k for k in layout if layout[k]))
one_kind = pytest.mark.kinds("driver")
transactional = pytest.mark.backends("sqlite", "postgresql")  # Oracle commits at each statement on a schema


def test_the_installed_version_is_told(backend: Backend) -> None:
    """It is the one that this code speaks (DESIGN 3)."""
    assert run(backend, schema.version) == schema.VERSION


def test_without_schema_there_is_no_version(empty: Backend) -> None:
    """Asking harms no transaction: the same one can install (DESIGN 3)."""
    with empty.begin() as tx:
        assert schema.version(tx) is None
        schema.install(tx)
        assert schema.version(tx) == schema.VERSION


def test_uninstall_leaves_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """Tables, partitions, views, functions and sequences go with all in them; twice is harmless (DESIGN 3)."""
    push(backend, repository, topic, "a")

    for _ in range(2):
        run(backend, schema.uninstall)
        assert catalogue(backend) == []
        assert run(backend, schema.version) is None


@transactional
def test_a_rollback_undoes_an_installation(empty: Backend) -> None:
    """Installing belongs to the caller's transaction (P7, DESIGN 4)."""
    tx = empty.open()
    schema.install(tx)
    repository = empty.repository(register=False)
    assert repository.initialize(tx, "topic") is True
    repository.push(tx, "topic", "a")
    empty.close(tx)

    assert catalogue(empty) == []


@transactional
def test_a_rollback_undoes_a_removal(backend: Backend, repository: Repository, topic: str) -> None:
    """Uninstalling belongs to the caller's transaction (P7, DESIGN 4)."""
    (task,) = push(backend, repository, topic, "a")
    before = catalogue(backend)

    tx = backend.open()
    schema.uninstall(tx)
    assert schema.version(tx) is None
    backend.close(tx)

    assert catalogue(backend) == before
    assert states(backend, repository, topic) == {task.sequence: TaskState.READY}


def test_installing_and_upgrading_again_is_harmless(backend: Backend, repository: Repository, topic: str) -> None:
    """Nothing changes, and tasks stay (DESIGN 3)."""
    (task,) = push(backend, repository, topic, "a")
    before = catalogue(backend)

    with backend.begin() as tx:
        schema.install(tx, partitioned=backend.partitioned)
        schema.upgrade(tx)
        schema.install(tx, partitioned=backend.partitioned)

    assert catalogue(backend) == before
    assert states(backend, repository, topic) == {task.sequence: TaskState.READY}


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.kinds("driver", "plain")
def test_another_layout_is_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """Partitions are chosen once; the error says how it is and what to do (PA-01, PA-B2)."""
    (task,) = push(backend, repository, topic, "a")
    found = "partitioned" if backend.partitioned else "unpartitioned"

    with backend.begin() as tx:
        with pytest.raises(SchemaError, match=rf"\b{found}\b.*uninstall"):
            schema.install(tx, partitioned=not backend.partitioned)
        assert repository.poll(tx, topic) == task


def test_nothing_to_upgrade(empty: Backend) -> None:
    """Without a schema the error names install; the transaction goes on (DESIGN 3)."""
    with empty.begin() as tx:
        with pytest.raises(SchemaError, match=r"schema\.install"):
            schema.upgrade(tx)
        schema.install(tx)


@pytest.mark.parametrize("call", [schema.install, schema.upgrade], ids=["install", "upgrade"])
def test_a_newer_schema_is_left_alone(backend: Backend, call: Any) -> None:  # noqa: ANN401 - two functions
    """Older code neither installs over it nor upgrades it (DESIGN 3)."""
    backend.sql("UPDATE task_schema SET version = 999")
    before = catalogue(backend)

    with backend.begin() as tx, pytest.raises(SchemaError, match="999"):
        call(tx)

    assert catalogue(backend) == before


@one_kind
@every_layout
def test_install_and_render_give_the_same_schema(empty: Backend, layout: dict[str, bool]) -> None:
    """What is rendered runs as it is with the driver alone (DESIGN 4, PV-02, PA-01)."""
    run(empty, schema.install, **layout)
    installed = catalogue(empty)
    run(empty, schema.uninstall)

    execute(empty, schema.render(empty.name, **layout))

    assert catalogue(empty) == installed
    assert run(empty, schema.version) == schema.VERSION
    repository = empty.repository()
    run(empty, repository.initialize, "topic")
    assert len(push(empty, repository, "topic", "a")) == 1


@one_kind
@pytest.mark.parametrize("pretty", [True, False])
def test_the_view_can_be_left_out(empty: Backend, *, pretty: bool) -> None:
    """Without pretty there is no task_pretty, and all else works (PV-02)."""
    run(empty, schema.install, pretty=pretty)

    names = [name for _, name, _ in catalogue(empty)]
    assert ("task_pretty" in names) is pretty
    run(empty, schema.uninstall)
    assert catalogue(empty) == []


@one_kind
@pytest.mark.parametrize("partitioned", [True, False])
def test_partitions_can_be_left_out(empty: Backend, *, partitioned: bool) -> None:
    """They are there only if wanted (PA-01)."""
    run(empty, schema.install, partitioned=partitioned)
    repository = empty.repository()
    run(empty, repository.initialize, "topic")

    assert len(push(empty, repository, "topic", "a")) == 1
    if empty.name == "postgresql":
        assert bool(empty.sql("SELECT FROM pg_partitioned_table")) is partitioned


@pytest.mark.parametrize("name", ["mysql", "", "PostgreSQL"])
def test_an_unknown_database_is_not_rendered(name: str) -> None:
    """The error names those that are known (DESIGN 3)."""
    with pytest.raises(InvalidTaskError, match="postgresql, oracle, sqlite"):
        schema.render(name)


@one_kind
@pytest.mark.parametrize("call", [schema.install, schema.upgrade, schema.uninstall, schema.version])
def test_what_is_no_connection_is_refused(backend: Backend, call: Any) -> None:  # noqa: ANN401 - four functions
    """An engine, a URL or nothing at all: the error says what to pass (P7)."""
    for wrong, says in ((backend.engine, r"engine\.begin"), (backend.url, "str"), (None, "NoneType")):
        with pytest.raises(InvalidTaskError, match=says):
            call(wrong)


@one_kind
def test_several_processes_install_at_once(empty: Backend) -> None:
    """The first one does it, the others wait and find it done (DESIGN 3)."""
    assert at_once(empty, "install") == [str(schema.VERSION)] * 4


@one_kind
def test_several_processes_upgrade_at_once(backend: Backend) -> None:
    """Each finds the version that it needs (DESIGN 3)."""
    assert at_once(backend, "upgrade") == [str(schema.VERSION)] * 4


@pytest.mark.backends("postgresql")
@one_kind
def test_the_schema_goes_where_the_search_path_leads(empty: Backend) -> None:
    """Two installations in one database, each in a schema of its own, do not see each other (DESIGN 4)."""
    for name in ("one", "two"):
        empty.sql(f"CREATE SCHEMA {name}")
    repositories = {name: PostgresTaskRepository(name) for name in ("one", "two")}

    for name, repository in repositories.items():
        with closing(psycopg.connect(empty.dsn, options=f"-c search_path={name}")) as tx:
            assert schema.version(tx) is None
            schema.install(tx)
            repository.initialize(tx, "topic")
            repository.push(tx, "topic", name)
            tx.commit()

    for name, repository in repositories.items():
        with closing(psycopg.connect(empty.dsn, options=f"-c search_path={name}")) as tx:
            assert [task.identifier for task in repository.page(tx, "topic")] == [name]
    assert run(empty, schema.version) is None
