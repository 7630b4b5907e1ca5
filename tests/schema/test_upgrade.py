"""From each older version of the schema to this one, with the tasks that are in it."""

from contextlib import closing

import psycopg
import pytest

from task_api import Condition, Insertion, SchemaError, TaskState
from task_sql import schema
from task_sql.schema.scripts import migrations
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push
from tests.conformance.scenes import run
from tests.schema.tables import at_once, catalogue, execute

PARTITIONED = pytest.mark.kinds("driver", "plain")
VERSIONS = range(1, schema.VERSION)


def install(backend: Backend, version: int) -> None:
    """Install an older version."""
    options = {"partitioned": backend.partitioned, "pretty": True, "notify": True, "fresh": False}
    for migration in migrations(backend.name):
        if migration.version <= version:
            execute(backend, migration.render(options))


@PARTITIONED
@pytest.mark.parametrize("version", VERSIONS)
def test_an_upgraded_schema_is_like_a_new_one(empty: Backend, version: int) -> None:
    """Nothing is left over, and nothing is missing; SQLite can't forget how it counted (DESIGN 4)."""
    run(empty, schema.install, partitioned=empty.partitioned)
    expected = [
        tuple(str(value).replace("INTEGER PRIMARY KEY,", "INTEGER PRIMARY KEY AUTOINCREMENT,") for value in row)
        for row in catalogue(empty)
    ]
    run(empty, schema.uninstall)
    install(empty, version)
    assert run(empty, schema.version) == version
    assert run(empty, schema.upgrade) == schema.VERSION
    assert [tuple(map(str, row)) for row in catalogue(empty)] == expected


@PARTITIONED
@pytest.mark.parametrize("version", VERSIONS)
def test_tasks_go_on_after_an_upgrade(empty: Backend, version: int) -> None:
    """What was pushed before is polled, completed and waited for afterwards."""
    install(empty, version)
    initialize = {
        "postgresql": "SELECT task_initialize('topic')",
        "sqlite": "INSERT INTO task_topic (topic) VALUES ('topic')",
        "oracle": "INSERT INTO task_topic (topic) VALUES ('topic')",
    }
    empty.sql(initialize[empty.name])
    empty.sql("INSERT INTO task (topic, identifier) VALUES ('topic', 'old')")
    repository = empty.repository(register=False)
    with empty.begin() as tx, pytest.raises(SchemaError, match=rf"version {version}.*upgrade"):
        repository.register(tx)
    run(empty, schema.upgrade)
    run(empty, repository.register)
    [old] = poll(empty, repository, "topic")
    [new] = push(empty, repository, "topic", "new", after=(old,))
    assert info(empty, repository, "topic", new).state is TaskState.SUSPENDED
    complete(empty, repository, "topic", old)
    assert poll(empty, repository, "topic") == [new]


@pytest.mark.backends("sqlite")
@pytest.mark.kinds("driver")
@pytest.mark.parametrize("version", VERSIONS)
def test_an_upgrade_keeps_what_is_known_of_tasks(empty: Backend, version: int) -> None:
    """READY tasks are found by their identifiers, and the number of one that is gone stays used (ST-12, P4)."""
    install(empty, version)
    empty.sql("INSERT INTO task_topic (topic) VALUES ('topic')")
    empty.sql("INSERT INTO task (topic, identifier) VALUES ('topic', 'a'), ('topic', 'gone')")
    empty.sql("DELETE FROM task WHERE identifier = 'gone'")
    run(empty, schema.upgrade)
    repository = empty.repository()
    assert run(empty, repository.push, "topic", "a").sequence == 3
    [task] = poll(empty, repository, "topic", 9, condition=Condition.SINGULAR_BY_IDENTIFIER)
    assert task.sequence == 1
    run(empty, repository.release, "topic", [task])
    push(empty, repository, "topic", "a", insertion=Insertion.SUPERSEDE)
    assert empty.sql("SELECT sequence FROM task WHERE state = 1") == [(4,)]


@pytest.mark.backends("postgresql")
@PARTITIONED
@pytest.mark.parametrize("version", VERSIONS)
def test_what_an_upgrade_brings_goes_where_the_tables_are(empty: Backend, version: int) -> None:
    """Also if another schema comes first on the search path, which is afterwards as it was (DESIGN 4, P7)."""
    install(empty, version)
    empty.sql("CREATE SCHEMA first")
    with closing(psycopg.connect(empty.dsn, options="-c search_path=first,public")) as tx:
        schema.upgrade(tx)
        [path] = tx.execute("SHOW search_path").fetchall()
        tx.commit()

    assert path == ("first,public",)
    assert empty.sql("SELECT proname FROM pg_proc WHERE pronamespace = 'first'::regnamespace") == []
    assert run(empty, schema.version) == schema.VERSION
    repository = empty.repository()
    run(empty, repository.initialize, "topic")
    [task] = push(empty, repository, "topic", "new")
    assert poll(empty, repository, "topic") == [task]


@pytest.mark.backends("postgresql")
@PARTITIONED
@pytest.mark.parametrize("version", [*VERSIONS, schema.VERSION])
def test_keys_have_room_whenever_they_were_made(empty: Backend, version: int) -> None:
    """For the entries that a claim and a decision add, those of topics that come after an upgrade too (DESIGN 4)."""
    install(empty, version)
    empty.sql("SELECT task_initialize('old')")
    run(empty, schema.upgrade)
    run(empty, empty.repository().initialize, "new")
    keys = empty.sql("""
        SELECT c.reloptions::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_class AS t ON t.oid = i.indrelid
        WHERE i.indisprimary AND c.relkind = 'i' AND (t.relispartition OR t.relname = 'task')
    """)

    assert keys == [("{fillfactor=40}",)] * (2 if empty.partitioned else 1)


@pytest.mark.kinds("driver")
@pytest.mark.parametrize("version", VERSIONS)
def test_several_processes_upgrade_at_once(empty: Backend, version: int) -> None:
    """The first one does it, the others wait and find it done (DESIGN 3)."""
    install(empty, version)
    assert at_once(empty, "upgrade") == [str(schema.VERSION)] * 4
