"""How PostgreSQL stores topics, in partitions or not (section 13 of BEHAVIOURS.md)."""

import pytest
from psycopg.errors import CheckViolation
from sqlalchemy.exc import IntegrityError

from task_api import TaskState
from tests.backends import Backend
from tests.backends.steps import drive, poll, push, states
from tests.conformance.scenes import Repository, run

pytestmark = [pytest.mark.backends("postgresql")]
partitioned = pytest.mark.kinds("driver")
both_layouts = pytest.mark.kinds("driver", "plain")

PARTITIONS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'task'::regclass ORDER BY 1"


@both_layouts
def test_the_table_is_partitioned_unless_installed_without(backend: Backend) -> None:
    """By list, on the topic (PA-01)."""
    found = backend.sql(
        "SELECT partstrat, attname FROM pg_partitioned_table JOIN pg_attribute ON attrelid = partrelid"
        " AND attnum = partattrs[0] WHERE partrelid = 'task'::regclass"
    )

    assert found == ([("l", "topic")] if backend.partitioned else [])


@partitioned
def test_each_topic_has_a_partition_of_its_own(backend: Backend, repository: Repository) -> None:
    """Initialising makes it, once; its tasks lie there (PA-02)."""
    for name in ("one", "two", "one"):
        run(backend, repository.initialize, name)
    push(backend, repository, "one", "a")
    push(backend, repository, "two", "b")

    assert len(backend.sql(PARTITIONS)) == 2
    assert len(backend.sql("SELECT DISTINCT tableoid FROM task")) == 2


@partitioned
def test_a_destroyed_topic_leaves_an_empty_partition_for_reuse(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Dropping it would lock the table; the next topic of the name takes it up again (PA-02, PU-07)."""
    push(backend, repository, topic, "a")
    before = backend.sql(PARTITIONS)

    run(backend, repository.destroy, topic)

    assert (backend.sql(PARTITIONS), backend.sql("SELECT count(*) FROM task")) == (before, [(0,)])
    run(backend, repository.initialize, topic)
    assert backend.sql(PARTITIONS) == before


@partitioned
def test_a_rolled_back_topic_leaves_no_partition(backend: Backend, repository: Repository) -> None:
    """Initialising belongs to the caller's transaction (PA-02, P7)."""
    tx = backend.open()
    repository.initialize(tx, "gone")
    backend.close(tx)

    assert backend.sql(PARTITIONS) == []


@partitioned
def test_no_partition_takes_unknown_topics(backend: Backend, repository: Repository, topic: str) -> None:
    """There is no default partition, so that the table itself refuses them (PA-03)."""
    push(backend, repository, topic, "a")

    with pytest.raises(IntegrityError) as caught:
        backend.sql("INSERT INTO task (topic, identifier) VALUES ('unknown', 'a')")

    assert isinstance(caught.value.orig, CheckViolation)
    assert caught.value.orig.sqlstate == "23514"


@both_layouts
def test_both_layouts_refuse_and_keep_alike(backend: Backend, repository: Repository, topic: str) -> None:
    """Neither needs foreign keys: unknown topics and owners are refused by the calls themselves (PA-06)."""
    (task,) = push(backend, repository, topic, "a")
    drive(backend, repository, topic, task, TaskState.SUCCEEDED)

    keys = "SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text LIKE 'task%'"
    assert backend.sql(keys) == []
    assert states(backend, repository, topic) == {task.sequence: TaskState.SUCCEEDED}


@partitioned
def test_partitions_have_every_index_of_the_table(backend: Backend, repository: Repository, topic: str) -> None:
    """Attaching found each of them in its place, so none is missing or invalid (PA-07)."""
    push(backend, repository, topic, "a")
    found = backend.sql(
        "SELECT indrelid = 'task'::regclass, indisvalid FROM pg_index WHERE indrelid = 'task'::regclass"
        " OR indrelid = (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'task'::regclass)"
    )
    attached = backend.sql(
        "SELECT inhparent FROM pg_inherits JOIN pg_index ON indexrelid = inhparent WHERE indrelid = 'task'::regclass"
    )

    assert {valid for _, valid in found} == {True}
    assert found.count((True, True)) == found.count((False, True)) == len(attached) >= 6


@both_layouts
def test_a_new_topic_does_not_wait_for_traffic(backend: Backend, repository: Repository, topic: str) -> None:
    """While others push, poll and complete, a topic is initialised beside them (PA-B1)."""
    push(backend, repository, topic, "a")
    busy = backend.open()
    task = repository.poll(busy, topic)
    assert task is not None
    repository.complete(busy, topic, task)
    repository.push(busy, topic, "b")

    tx = backend.open()
    tx.execute("SET LOCAL lock_timeout = '2s'")
    assert repository.initialize(tx, "new") is True
    backend.commit(tx)


@both_layouts
def test_traffic_does_not_wait_for_a_new_topic(backend: Backend, repository: Repository, topic: str) -> None:
    """A topic that is initialised and not committed yet locks nobody else out (PA-B1)."""
    tx = backend.open()
    repository.initialize(tx, "new")
    repository.push(tx, "new", "x")

    busy = backend.open()
    busy.execute("SET LOCAL lock_timeout = '2s'")
    repository.push(busy, topic, "a")
    task = repository.poll(busy, topic)
    assert task is not None
    repository.complete(busy, topic, task)
    assert repository.topics(busy) == {topic}
    assert repository.count(busy) != {}
    backend.commit(busy)
    backend.commit(tx)
    assert len(poll(backend, repository, "new")) == 1
