"""How often a poll on PostgreSQL asks how far the consumers of a topic have come."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Condition, InvalidTaskError
from task_sql.postgresql.claim import CANDIDATES, PROBE
from task_sql.postgresql.floor import Floor
from tests.backends.steps import complete, poll, push
from tests.processor.support import eventually
from tests.sql.recording import sent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from task_api import TaskRepository
    from task_sql.postgresql.floor import Look
    from tests.backends import Backend

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("connection")]


def test_a_task_that_comes_alone_is_polled_by_one_statement(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Whoever has found nothing and is woken does not ask how far he has come (DESIGN 4)."""
    for identifier in ("a", "b", "c"):
        assert poll(backend, repository, topic) == []
        push(backend, repository, topic, identifier)
        with sent(backend) as statements:
            [task] = poll(backend, repository, topic)
        assert task.identifier == identifier
        assert len(statements) == 1


@contextmanager
def looks() -> Iterator[list[Look]]:
    """The looks at heads of topics that are taken meanwhile."""
    taken: list[Look] = []
    learn = Floor.learn

    def note(floor: Floor, look: Look, *found: Any) -> bool:
        taken.append(look)
        return learn(floor, look, *found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Floor, "learn", note)
        yield taken


@pytest.mark.parametrize("condition", [Condition.NONE, Condition.SINGULAR_BY_IDENTIFIER])
def test_a_queue_is_asked_for_its_head_now_and_then(
    backend: Backend, repository: TaskRepository[Any], topic: str, condition: Condition
) -> None:
    """After some tasks, so that what is done is not passed over again and again (P3, DESIGN 4)."""
    assert poll(backend, repository, topic, condition=condition) == []
    push(backend, repository, topic, *map(str, range(40)))
    with looks() as taken, sent(backend) as statements:
        for number in range(40):
            [task] = poll(backend, repository, topic, condition=condition)
            assert task.identifier == str(number)
    assert 0 < len(taken) < 35
    # Without a condition they come with the tasks.
    assert statements.count(PROBE) == (0 if condition is Condition.NONE else len(taken))


def test_an_old_snapshot_teaches_nothing(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """Whoever polls in REPEATABLE READ is refused, and leaves what is known about the queues as it is (P4)."""
    singular = Condition.SINGULAR_BY_IDENTIFIER
    push(backend, repository, topic, *"a" * 50)
    with backend.engine.connect().execution_options(isolation_level="REPEATABLE READ") as old:
        repository.page(old, topic)
        push(backend, repository, topic, *"b" * 50)
        held = poll(backend, repository, topic, 5, condition=singular)

        _learn(backend, repository, topic, {"a", "b"})
        known = _known(repository)
        _look_from_the_start(repository)
        with pytest.raises(InvalidTaskError, match="READ COMMITTED"):
            repository.poll_many(old, topic, 5, condition=singular)

    assert _known(repository) == known
    complete(backend, repository, topic, held)
    assert [task.identifier for task in poll(backend, repository, topic, 5, condition=singular)] == ["a", "b"]


def _learn(backend: Backend, repository: TaskRepository[Any], topic: str, identifiers: set[str]) -> None:
    """Poll in vain until it is known whose tasks wait: not before other transactions on the server have ended."""

    def learned() -> bool:
        assert poll(backend, repository, topic, 5, condition=Condition.SINGULAR_BY_IDENTIFIER) == []
        return set(_known(repository)[1]) == identifiers

    eventually(learned)


def _known(repository: Any) -> tuple[int, tuple[str, ...]]:  # noqa: ANN401 - what it is inside
    [head] = repository._dialect._heads.values()  # noqa: SLF001 - where it is known
    found: tuple[int, tuple[str, ...]] = head.backlog.known
    return found


def _look_from_the_start(repository: Any) -> None:  # noqa: ANN401 - what it is inside
    """As it does every half minute."""
    for head in repository._dialect._heads.values():  # noqa: SLF001 - where it is known
        head.floor._trusted = 0.0  # noqa: SLF001 - since when


def test_who_finds_everything_blocked_forgets_nothing(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Queues that are known are not passed over from the start again, only because nothing can be taken (P4, PO-B4)."""
    singular = Condition.SINGULAR_BY_IDENTIFIER
    push(backend, repository, topic, *("a", "b") * 200)

    def take() -> list[str]:
        held = poll(backend, repository, topic, 10, condition=singular)
        assert poll(backend, repository, topic, 10, condition=singular) == []
        complete(backend, repository, topic, held)
        return [task.identifier for task in held]

    held = poll(backend, repository, topic, 10, condition=singular)
    _learn(backend, repository, topic, {"a", "b"})
    complete(backend, repository, topic, held)
    with sent(backend) as statements:
        assert [take() for _ in range(20)] == [["a", "b"]] * 20
    assert statements
    assert not set(statements) & set(CANDIDATES.values())
