"""Every argument of a repository, good and bad: a clear error or success, and the transaction goes on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, note

from task_api import Task, TaskDecision, TaskError, TaskState
from task_sql import SqlTaskRepository
from task_sql.arguments import checked_topic
from tests.backends.steps import poll, push
from tests.conformance.scenes import one_of_each, run
from tests.contention.plain_sql import execute
from tests.fuzz.arguments import ARGUMENTS, SPECIAL, THAT, THIS, TOPIC, calls, methods
from tests.fuzz.profiles import EXAMPLES, profile
from tests.fuzz.recording import recorded
from tests.fuzz.values import MARK, NUMBER, YEAR, Made, made

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from task_api import TaskRepository
    from tests.backends import Backend, Transaction

TABLES = ("task", "task_topic", "task_owner", "task_activation", "task_dependency")


def dump(tx: Transaction) -> list[list[str]]:
    """Everything that is stored, as this transaction sees it."""
    return [sorted(map(repr, execute(tx, f"SELECT * FROM {table}"))) for table in TABLES]  # noqa: S608 - ours


def placed(value: Any, scene: Mapping[object, Task]) -> Any:  # noqa: ANN401 - of any type
    """The value with the tasks of the scene."""
    if isinstance(value, Made):
        options = tuple((name, placed(each, scene)) for name, each in value.options)
        return Made(value.kind, placed(value.args, scene), options)
    if type(value) in (list, tuple):
        return type(value)(placed(each, scene) for each in value)
    return scene[value] if value is THIS or value is THAT else value


@pytest.fixture
def scene(backend: Backend, repository: TaskRepository[Any], topic: str) -> dict[object, Task]:
    """One task in each state, one that is held, one that waits for it."""
    found = one_of_each(backend, repository, topic)
    [suspended] = push(backend, repository, topic, "SUSPENDED", suspended=True)
    push(backend, repository, topic, "held")
    held = poll(backend, repository, topic, 9)[-1]
    push(backend, repository, topic, "waiting", after=(held,))
    push(backend, repository, topic, "one", "two", "three")
    # SQLite notes that identifiers can be looked for now, whatever becomes of the call that is the first to do so.
    run(backend, repository.junction, topic, [["nobody"]])
    assert found
    return {THIS: held, THAT: suspended}


@pytest.mark.backends("sqlite", "postgresql")
@pytest.mark.kinds("driver", "connection")
@pytest.mark.timeout(0 if EXAMPLES in os.environ else 600)
def test_every_call_is_refused_clearly_or_done(
    backend: Backend, repository: TaskRepository[Any], topic: str, scene: dict[object, Task]
) -> None:
    """An error of the library's own, nothing written, the transaction usable, no value in any statement (P7, IN-B7)."""
    assert topic == TOPIC
    fuzz(backend, repository, scene, methods())


def fuzz(
    backend: Backend,
    repository: TaskRepository[Any],
    scene: Mapping[object, Task],
    chosen: Mapping[str, list[str]],
) -> None:
    """Make calls of some methods, and raise what of each is wrong first."""
    wrong: list[Exception] = []
    few = profile({"sqlite": 40, "postgresql": 20}[backend.name])
    with recorded(backend) as (tx, seen):
        before = dump(tx)
        for method, parameters in chosen.items():
            try:
                few(_check(repository, tx, seen, scene, before, method, parameters))()
            except Exception as error:  # noqa: BLE001 - of each method the first, all raised below
                wrong.append(error)
            tx.rollback()
    if wrong:
        message = "neither done nor refused as it should be"
        raise ExceptionGroup(message, wrong)
    assert seen


def _check(  # noqa: PLR0917 - a helper of the one test
    repository: TaskRepository[Any],
    tx: Transaction,
    seen: list[str],
    scene: Mapping[object, Task],
    before: list[list[str]],
    method: str,
    parameters: list[str],
) -> Callable[[], None]:
    @given(calls(method, parameters))
    def check(arguments: Mapping[str, Any]) -> None:
        note(f"repository.{method}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})")
        given = {name: placed(value, scene) for name, value in arguments.items()}
        start = len(seen)
        try:
            done = _call(repository, tx, method, given)
        except TaskError as error:
            note(f"raised {error!r}")
            assert dump(tx) == before
        except TimeoutError:
            assert method == "wait"  # which has noted that somebody waits
        else:
            note(f"returned {done!r}")
        assert not [text for text in seen[start:] if MARK in text or str(NUMBER) in text or str(YEAR) in text]
        _require_usable(repository, tx)
        tx.rollback()

    return check


def _call(repository: TaskRepository[Any], tx: Transaction, method: str, given: Mapping[str, Any]) -> object:
    options = {name: made(value) for name, value in given.items()}
    if method == "wait":
        dispatcher = options.pop("dispatcher")
        return repository.wait(lambda: dispatcher(tx), **options)
    return getattr(repository, method)(tx, **options)


def _require_usable(repository: TaskRepository[Any], tx: Transaction) -> None:
    """Insist that the transaction goes on."""
    assert execute(tx, "SELECT 1") == [(1,)]
    repository.register(tx)
    repository.initialize(tx, TOPIC)
    task = repository.push(tx, TOPIC, "afterwards")
    held = repository.eject(tx, TOPIC, task, states=[TaskState.READY])
    repository.complete(tx, TOPIC, held, TaskDecision.success("well"))
    stored = repository.task(tx, TOPIC, task.sequence)
    assert stored is not None
    assert (stored.state, stored.output) == (TaskState.SUCCEEDED, "well")


def test_every_parameter_has_values() -> None:
    """A new method, or a parameter of a new name, is not forgotten."""
    found = {parameter for parameters in methods().values() for parameter in parameters}
    assert found == ARGUMENTS.keys() | {parameter for _, parameter in SPECIAL}
    assert {"push", "poll", "complete", "wait", "depend"} < methods().keys()


def unsafe(repository: Any, tx: Any, topic: str) -> object:  # noqa: ANN401 - as in the library
    """Build a statement of a value."""
    checked_topic(topic)
    transaction, _ = repository._open(tx)  # noqa: SLF001 - broken from inside
    return transaction.rows("SELECT '" + topic.replace("'", "''").replace("%", "%%") + "'")


def hasty(repository: Any, tx: Any, topic: str) -> object:  # noqa: ANN401 - as in the library
    """Write before the arguments are judged."""
    repository.purge_all(tx, TOPIC)
    return checked_topic(topic)


def careless(repository: Any, tx: Any, topic: Any) -> object:  # noqa: ANN401 - as in the library
    """Judge nothing."""
    transaction, _ = repository._open(tx)  # noqa: SLF001 - broken from inside
    return transaction.rows(repository._statements.topic.known, {"topic": topic})  # noqa: SLF001 - as above


@pytest.mark.backends("sqlite", "postgresql")
@pytest.mark.kinds("driver")
@pytest.mark.parametrize("broken", [unsafe, hasty, careless], ids=lambda each: each.__name__)
def test_a_broken_call_is_found_out(
    backend: Backend,
    repository: TaskRepository[Any],
    scene: dict[object, Task],
    *,
    monkeypatch: pytest.MonkeyPatch,
    broken: Callable[..., object],
) -> None:
    """A value in a statement, a trace of what was refused, an error of the driver's."""
    monkeypatch.setattr(SqlTaskRepository, "activation", broken)
    with pytest.raises(ExceptionGroup) as caught:
        fuzz(backend, repository, scene, {"activation": ["topic"]})
    assert len(caught.value.exceptions) == 1
