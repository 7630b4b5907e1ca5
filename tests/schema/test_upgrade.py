"""From each older version of the schema to this one, with the tasks that are in it."""

import pytest

from task_api import SchemaError, TaskState
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
    options = {"partitioned": backend.partitioned, "pretty": True, "notify": True}
    for migration in migrations(backend.name):
        if migration.version <= version:
            execute(backend, migration.render(options))


@PARTITIONED
@pytest.mark.parametrize("version", VERSIONS)
def test_an_upgraded_schema_is_like_a_new_one(empty: Backend, version: int) -> None:
    """Nothing is left over, and nothing is missing (DESIGN 4)."""
    run(empty, schema.install, partitioned=empty.partitioned)
    expected = catalogue(empty)
    run(empty, schema.uninstall)
    install(empty, version)
    assert run(empty, schema.version) == version
    assert run(empty, schema.upgrade) == schema.VERSION
    assert catalogue(empty) == expected


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


@pytest.mark.kinds("driver")
@pytest.mark.parametrize("version", VERSIONS)
def test_several_processes_upgrade_at_once(empty: Backend, version: int) -> None:
    """The first one does it, the others wait and find it done (DESIGN 3)."""
    install(empty, version)
    assert at_once(empty, "upgrade") == [str(schema.VERSION)] * 4
