"""Wrong arguments and wrong databases: a clear error, nothing written, and the transaction goes on."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeAlias

import pytest
import sqlalchemy

from task_api import (
    IDENTIFIER_LENGTH,
    OWNER_LENGTH,
    REFERENCE_LENGTH,
    TOPIC_LENGTH,
    Counting,
    InvalidTaskError,
    Listing,
    Revivification,
    SchemaError,
    Task,
    TaskCreation,
    TaskDecision,
    TaskResult,
    TaskState,
)
from task_sql import create_repository, schema
from tests.backends import Backend, Transaction
from tests.backends.steps import states
from tests.conformance.scenes import Repository, run

Call: TypeAlias = Callable[[Any, Transaction, str], object]
"""A call with wrong arguments, so the repository has no closer type than Any."""

TASK = Task(1, "a")
ANY_TASK: Any = Task
"""The class without its types, to make values that it forbids."""
NAIVE = datetime(2024, 5, 17, 12)  # noqa: DTZ001 - what is refused
SECOND = timedelta(seconds=1)
WEST, EAST = timezone(timedelta(hours=-12)), timezone(timedelta(hours=14))
FAILED, SUCCESS, RESET = TaskState.FAILED, TaskResult.SUCCESS, Revivification.RESET

BAD_TOPICS: dict[str, tuple[object, str]] = {
    "empty": ("", "topic must not be empty"),
    "blank": (" \t", "topic must not be empty"),
    "too long": ("x" * (TOPIC_LENGTH + 1), r"topic of 251 characters is too long; 250 are allowed"),
    "None": (None, "topic must be a str, not NoneType"),
    "bytes": (b"topic", "topic must be a str, not bytes"),
    "NUL": ("a\0b", "topic must not hold a NUL"),
    "surrogate": ("a\ud800", "topic must be valid Unicode"),
}

WITH_TOPIC: dict[str, Call] = {
    "push": lambda r, tx, topic: r.push(tx, topic, "a"),
    "push_many": lambda r, tx, topic: r.push_many(tx, topic, ["a"]),
    "poll": lambda r, tx, topic: r.poll(tx, topic),
    "poll_many": lambda r, tx, topic: r.poll_many(tx, topic, 1),
    "complete": lambda r, tx, topic: r.complete(tx, topic, TASK),
    "complete_many": lambda r, tx, topic: r.complete_many(tx, topic, {TASK: TaskDecision.SUCCESS}),
    "release": lambda r, tx, topic: r.release(tx, topic, [TASK]),
    "extend": lambda r, tx, topic: r.extend(tx, topic, [TASK], SECOND),
    "checkpoint": lambda r, tx, topic: r.checkpoint(tx, topic, TASK, "x"),
    "promote": lambda r, tx, topic: r.promote(tx, topic),
    "next_due": lambda r, tx, topic: r.next_due(tx, topic),
    "recreate": lambda r, tx, topic: r.recreate(tx, topic, RESET, [TASK]),
    "recreate_state": lambda r, tx, topic: r.recreate_state(tx, topic, RESET, FAILED),
    "junction": lambda r, tx, topic: r.junction(tx, topic, [{"a"}]),
    "eject": lambda r, tx, topic: r.eject(tx, topic, TASK),
    "initialize": lambda r, tx, topic: r.initialize(tx, topic),
    "destroy": lambda r, tx, topic: r.destroy(tx, topic),
    "activation": lambda r, tx, topic: r.activation(tx, topic),
    "activate": lambda r, tx, topic: r.activate(tx, topic, active=True),
    "reassign": lambda r, tx, topic: r.reassign(tx, topic, {TASK: SUCCESS}),
    "reassign_all": lambda r, tx, topic: r.reassign_all(tx, topic, FAILED, SUCCESS),
    "task": lambda r, tx, topic: r.task(tx, topic, 1),
    "page": lambda r, tx, topic: r.page(tx, topic),
    "purge": lambda r, tx, topic: r.purge(tx, topic),
    "purge_all": lambda r, tx, topic: r.purge_all(tx, topic),
}

BAD_CALLS: dict[str, tuple[Call, str]] = {
    "empty identifier": (lambda r, tx, topic: r.push(tx, topic, ""), "identifier must not be empty"),
    "blank identifier": (lambda r, tx, topic: r.push_many(tx, topic, ["a", " "]), "identifier"),
    "long identifier": (
        lambda r, tx, topic: r.push_many(tx, topic, ["a", "x" * (IDENTIFIER_LENGTH + 1)]),
        "identifier of 501 characters is too long; 500 are allowed",
    ),
    "long reference": (
        lambda r, tx, topic: r.push(tx, topic, TaskCreation("a", reference="x" * (REFERENCE_LENGTH + 1))),
        "reference of 501 characters",
    ),
    "creation of another type": (lambda r, tx, topic: r.push(tx, topic, 7), "TaskCreation, not int"),
    "input of another type": (lambda r, tx, topic: r.push_many(tx, topic, {"a": 7}), "input must be a str"),
    "one text as creations": (lambda r, tx, topic: r.push_many(tx, topic, "abc"), "not str; use push"),
    "no creations": (lambda r, tx, topic: r.push_many(tx, topic, None), "not NoneType"),
    "naive due": (lambda r, tx, topic: r.push(tx, topic, TaskCreation("a", due=NAIVE)), "time zone"),
    "due of another type": (
        lambda r, tx, topic: r.push(tx, topic, TaskCreation("a", due="soon")),  # type: ignore[arg-type]
        "due must be .* not str",
    ),
    "endless due": (
        lambda r, tx, topic: r.push(tx, topic, TaskCreation("a", due=timedelta.max)),
        "due must lie|due",
    ),
    "insertion": (
        lambda r, tx, topic: r.push(tx, topic, "a", insertion="APPEND"),
        r"'APPEND' is none of Insertion\.APPEND",
    ),
    "insertion of nothing": (
        lambda r, tx, topic: r.push_many(tx, topic, [], insertion="APPEND"),
        "none of Insertion",
    ),
    "negative poll": (lambda r, tx, topic: r.poll_many(tx, topic, -1), "size must not be negative: -1"),
    "fractional poll": (lambda r, tx, topic: r.poll_many(tx, topic, 1.5), "size must be an int, not float"),
    "boolean poll": (lambda r, tx, topic: r.poll_many(tx, topic, True), "size must be an int, not bool"),  # noqa: FBT003
    "endless poll": (lambda r, tx, topic: r.poll_many(tx, topic, 2**63), "size"),
    "endless page": (lambda r, tx, topic: r.page(tx, topic, size=2**64), "size"),
    "endless revival": (lambda r, tx, topic: r.recreate_state(tx, topic, RESET, FAILED, size=2**63), "size"),
    "order": (lambda r, tx, topic: r.poll(tx, topic, order="FIFO"), "'FIFO' is none of Order"),
    "condition": (lambda r, tx, topic: r.poll(tx, topic, condition=None), "None is none of Condition"),
    "claim": (lambda r, tx, topic: r.poll(tx, topic, claim=1), "1 is none of Claim"),
    "negative lease": (lambda r, tx, topic: r.poll(tx, topic, lease=-SECOND), "lease must"),
    "lease of another type": (
        lambda r, tx, topic: r.poll(tx, topic, lease=30),
        "lease must be a timedelta, not int",
    ),
    "extension by nothing": (
        lambda r, tx, topic: r.extend(tx, topic, [TASK], None),
        "lease must be a timedelta",
    ),
    "negative extension": (lambda r, tx, topic: r.extend(tx, topic, [TASK], -SECOND), "lease must"),
    "no task": (lambda r, tx, topic: r.complete(tx, topic, "a"), "'a' is not a Task"),
    "one task as tasks": (lambda r, tx, topic: r.release(tx, topic, TASK), "iterable of Task, not Task"),
    "sequences as tasks": (lambda r, tx, topic: r.recreate(tx, topic, RESET, [1]), "1 is not a Task"),
    "task with a text": (lambda r, tx, topic: r.complete(tx, topic, ANY_TASK("x", "a")), "sequence"),
    "task with a truth": (lambda r, tx, topic: r.release(tx, topic, [ANY_TASK(True, "a")]), "sequence"),  # noqa: FBT003
    "task beyond all": (lambda r, tx, topic: r.recreate(tx, topic, RESET, [Task(2**63, "a")]), "sequence"),
    "task to reassign": (lambda r, tx, topic: r.reassign(tx, topic, {ANY_TASK(None, "a"): SUCCESS}), "sequence"),
    "task to eject": (lambda r, tx, topic: r.eject(tx, topic, ANY_TASK(1.5, "a")), "sequence"),
    "task to keep": (lambda r, tx, topic: r.checkpoint(tx, topic, ANY_TASK("1", "a"), "x"), "sequence"),
    "tasks to decide": (
        lambda r, tx, topic: r.complete_many(
            tx, topic, dict.fromkeys([TASK, ANY_TASK("x", "a")], TaskDecision.SUCCESS)
        ),
        "sequence",
    ),
    "token": (lambda r, tx, topic: r.complete(tx, topic, ANY_TASK(1, "a", token="x")), "token"),  # noqa: S106
    "task with another claim": (
        lambda r, tx, topic: r.complete(tx, topic, ANY_TASK(1, "a", claim="x")),
        "'x' is none of Claim",
    ),
    "tasks with another claim": (
        lambda r, tx, topic: r.complete_many(
            tx, topic, dict.fromkeys([Task(1, "a"), ANY_TASK(2, "b", claim=None)], TaskDecision.SUCCESS)
        ),
        "None is none of Claim",
    ),
    "no decision": (
        lambda r, tx, topic: r.complete(tx, topic, TASK, SUCCESS),
        "TaskDecision, not TaskResult",
    ),
    "no decisions": (lambda r, tx, topic: r.complete_many(tx, topic, [TASK]), "mapping .* not list"),
    "input to checkpoint": (lambda r, tx, topic: r.checkpoint(tx, topic, TASK, 7), "input must be a str"),
    "revivification": (lambda r, tx, topic: r.recreate(tx, topic, "RESET", [TASK]), "none of Revivification"),
    "state to revive": (
        lambda r, tx, topic: r.recreate_state(tx, topic, RESET, 3),
        "3 is none of TaskState",
    ),
    "negative revival": (
        lambda r, tx, topic: r.recreate_state(tx, topic, RESET, FAILED, size=-1),
        "size must not be negative",
    ),
    "junction": (lambda r, tx, topic: r.junction(tx, topic, [{"a"}], junction=0), "0 is none of Junction"),
    "text as group": (lambda r, tx, topic: r.junction(tx, topic, ["ab"]), "collection .* not str"),
    "no groups": (lambda r, tx, topic: r.junction(tx, topic, None), "groups .* not NoneType"),
    "long member": (lambda r, tx, topic: r.junction(tx, topic, [{"x" * 501}]), "identifier of 501"),
    "member of another type": (lambda r, tx, topic: r.junction(tx, topic, [{7}]), "identifier must be a str"),
    "result": (lambda r, tx, topic: r.reassign(tx, topic, {TASK: FAILED}), "none of TaskResult"),
    "no results": (lambda r, tx, topic: r.reassign(tx, topic, [TASK]), "mapping .* not list"),
    "reason": (
        lambda r, tx, topic: r.reassign(tx, topic, {TASK: SUCCESS}, message=7),
        "message must be a str",
    ),
    "reason for all": (
        lambda r, tx, topic: r.reassign_all(tx, topic, FAILED, SUCCESS, message=7),
        "message must be a str",
    ),
    "bound": (
        lambda r, tx, topic: r.reassign_all(tx, topic, FAILED, SUCCESS, first="1"),
        "first must be a sequence number, not str",
    ),
    "bound beyond all": (
        lambda r, tx, topic: r.purge(tx, topic, last=2**63),
        "last is out of the range",
    ),
    "fractional bound": (lambda r, tx, _: r.count(tx, last=1.0), "last must be a sequence number"),
    "sequence": (lambda r, tx, topic: r.task(tx, topic, "1"), "sequence must be a sequence number"),
    "naive start": (lambda r, tx, topic: r.page(tx, topic, start=NAIVE), "start .* time zone"),
    "start of another type": (lambda r, tx, topic: r.page(tx, topic, start="1"), "start must"),
    "negative page": (lambda r, tx, topic: r.page(tx, topic, size=-1), "size must not be negative"),
    "direction": (lambda r, tx, topic: r.page(tx, topic, direction=True), "True is none of Direction"),
    "listing": (lambda r, tx, topic: r.page(tx, topic, listing=FAILED), "must be a Listing"),
    "listed state": (lambda r, tx, topic: r.page(tx, topic, listing=Listing(state="x")), "none of TaskState"),  # type: ignore[arg-type]
    "snapshot": (lambda r, tx, topic: r.count(tx, topic), "none of Snapshot"),
    "counting": (lambda r, tx, topic: r.count(tx, counting=topic), "must be a Counting"),
    "counted topic": (lambda r, tx, _: r.count(tx, counting=Counting(topic="")), "topic must not be empty"),
    "naive window": (lambda r, tx, _: r.results(tx, since=NAIVE), "since .* time zone"),
    "window of another type": (lambda r, tx, _: r.results(tx, until="now"), "until must .* not str"),
    "naive moment": (lambda r, tx, _: r.resolve(tx, NAIVE), "moment .* time zone"),
    "moment of another type": (lambda r, tx, _: r.resolve(tx, 7), "moment must"),
    "purge of ACTIVE": (lambda r, tx, topic: r.purge(tx, topic, states={TaskState.ACTIVE}), "ACTIVE"),
    "purge of a name": (lambda r, tx, topic: r.purge(tx, topic, states="FAILED"), "states must .* not str"),
    "purge of a number": (lambda r, tx, topic: r.purge(tx, topic, states={42}), "42 is none of TaskState"),
    "activation": (lambda r, tx, topic: r.activate(tx, topic, active="no"), "active must .* 'no'"),
    "negative timeout": (lambda r, tx, _: r.expire(tx, -SECOND), "timeout must"),
    "timeout of another type": (lambda r, tx, _: r.owners(tx, 60), "timeout must be a timedelta, not int"),
    "no timeout": (lambda r, tx, _: r.purge_owners(tx, None), "timeout must be a timedelta"),
    "endless timeout": (lambda r, tx, _: r.expire(tx, timedelta.max), "timeout must"),
}


@pytest.fixture
def statements(backend: Backend) -> Iterator[list[str]]:
    """What the engine's connections execute, collected from now on."""
    seen: list[str] = []

    def record(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    sqlalchemy.event.listen(backend.engine, "before_cursor_execute", record)
    yield seen
    sqlalchemy.event.remove(backend.engine, "before_cursor_execute", record)


def assert_refused(
    backend: Backend,
    repository: Repository,
    call: Callable[[Transaction], object],
    says: str,
    statements: list[str],
) -> None:
    """The call raises before any statement, and the transaction goes on as if it had not been made."""
    with backend.begin() as tx:
        repository.topics(tx)
        before = len(statements)
        with pytest.raises(InvalidTaskError, match=says):
            call(tx)
        assert statements[before:] == []
        task = repository.push(tx, "topic", "afterwards")

    assert states(backend, repository, "topic") == {task.sequence: TaskState.READY}


@pytest.mark.kinds("connection")
@pytest.mark.parametrize("call", WITH_TOPIC.values(), ids=WITH_TOPIC)
def test_topics_are_checked_by_every_call(
    backend: Backend, repository: Repository, topic: str, statements: list[str], call: Call
) -> None:
    """Names that can't be a topic's are refused before any statement (IN-B7, PO-B9)."""
    assert topic == "topic"
    for name, says in BAD_TOPICS.values():

        def wrong(tx: Transaction, name: object = name) -> object:
            return call(repository, tx, name)  # type: ignore[arg-type]

        with backend.begin() as tx, pytest.raises(InvalidTaskError, match=says):
            wrong(tx)
    assert_refused(backend, repository, wrong, says, statements)


@pytest.mark.kinds("connection")
@pytest.mark.parametrize(("call", "says"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_wrong_arguments_are_refused(
    backend: Backend, repository: Repository, topic: str, statements: list[str], *, call: Call, says: str
) -> None:
    """Each error names the argument and what is wrong with it, before any statement (IN-B7, PO-B9, OW-07)."""
    assert_refused(backend, repository, lambda tx: call(repository, tx, topic), says, statements)


@pytest.mark.parametrize("end", [datetime.min, datetime.max], ids=["first", "last"])  # noqa: DTZ901 - made aware
@pytest.mark.parametrize("zone", [WEST, UTC, EAST], ids=str)
def test_due_times_at_the_ends_of_the_calendar_are_refused(end: datetime, zone: timezone) -> None:
    """No session could read them in every time zone, and one would spoil a whole list (LI-22)."""
    due = end.replace(tzinfo=zone)

    with pytest.raises(InvalidTaskError, match="due must lie between the years"):
        TaskCreation("a", due=due)
    with pytest.raises(InvalidTaskError, match="due must lie between the years"):
        TaskDecision.suspension(due=due)


@pytest.mark.kinds("driver")
def test_far_due_times_can_be_read_in_every_time_zone(backend: Backend, repository: Repository, topic: str) -> None:
    """The first and the last due time allowed come back as they were given (LI-22)."""
    dues = [datetime(2, 1, 1, tzinfo=EAST), datetime(9998, 12, 31, 23, 59, 59, tzinfo=WEST)]
    run(backend, repository.push_many, topic, [TaskCreation("far", due=due) for due in dues])

    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        with backend.begin() as tx:
            if backend.name == "postgresql":
                tx.execute(f"SET LOCAL TIME ZONE '{zone}'")
            assert [task.due for task in repository.page(tx, topic)] == dues
            assert repository.next_due(tx, topic) == dues[0]


@pytest.mark.kinds("connection")
@pytest.mark.parametrize(
    ("owner", "says"),
    [
        ("", "owner must not be empty"),
        (" ", "owner must not be empty"),
        ("x" * (OWNER_LENGTH + 1), "owner of 251 characters is too long; 250 are allowed"),
        (7, "owner must be a str, not int"),
        ("a\0", "NUL"),
    ],
    ids=["empty", "blank", "too long", "number", "NUL"],
)
def test_wrong_owners_are_refused(backend: Backend, owner: Any, says: str) -> None:  # noqa: ANN401 - wrong on purpose
    """A repository has a name that can be stored (ST-13)."""
    with pytest.raises(InvalidTaskError, match=says):
        create_repository(backend.engine, owner)


FIRST_CALLS: list[Call] = [
    *WITH_TOPIC.values(),
    lambda r, tx, _: r.register(tx),
    lambda r, tx, _: r.heartbeat(tx),
    lambda r, tx, _: r.owners(tx, SECOND),
    lambda r, tx, _: r.expire(tx, SECOND),
    lambda r, tx, _: r.purge_owners(tx, SECOND),
    lambda r, tx, _: r.topics(tx),
    lambda r, tx, _: r.count(tx),
    lambda r, tx, _: r.results(tx),
    lambda r, tx, _: r.resolve(tx, NAIVE.astimezone()),
    lambda r, tx, _: r.refresh(tx),
]


def test_a_database_without_schema_says_so(backend: Backend) -> None:
    """Every call tells how to install it, and the same transaction can do so (P7, DESIGN 3)."""
    run(backend, schema.uninstall)

    with backend.begin() as tx:
        for call in FIRST_CALLS:
            with pytest.raises(SchemaError, match=r"schema\.install"):
                call(backend.repository(register=False), tx, "topic")
        schema.install(tx)
        repository = backend.repository(register=False)
        assert repository.initialize(tx, "topic") is True
        repository.push(tx, "topic", "a")


@pytest.mark.parametrize(
    ("version", "says"), [(0, r"version 0.*schema\.upgrade"), (999, "version 999.*newer")], ids=["older", "newer"]
)
def test_a_schema_of_another_version_says_so(backend: Backend, version: int, says: str) -> None:
    """Every call names the version found and what to do; nothing is written, the transaction goes on (P7)."""
    backend.sql("UPDATE task_schema SET version = :version", version=version)

    with backend.begin() as tx:
        for call in FIRST_CALLS:
            with pytest.raises(SchemaError, match=says):
                call(backend.repository(register=False), tx, "topic")
        assert schema.version(tx) == version

    assert backend.sql("SELECT count(*) FROM task_topic") == [(0,)]
    assert backend.sql("SELECT count(*) FROM task_owner") == [(0,)]
