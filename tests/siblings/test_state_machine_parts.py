"""What state machines are made of: mistakes in their making, and the data of their states."""

from __future__ import annotations

import json
import threading
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from task_api import InvalidTaskError, Task, TaskDecision
from task_processor.machine.machine import StateMachine
from task_processor.machine.state import MachineState, checked_state, written
from task_processor.machine.transition import Transition
from task_processor.machine.watch import ClaimWatch, Watched
from tests.backends.steps import info, poll, push
from tests.processor.support import eventually
from tests.siblings.machines import finish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from task_api import TaskRepository
    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")


@pytest.mark.parametrize("data", [{1, 2}, object(), float("nan"), {(1, 2): 3}, datetime(2026, 1, 1, tzinfo=UTC)])
def test_data_that_is_not_json_is_refused(data: object) -> None:
    """Where it is given, so that the trace tells who did it (S0-01)."""
    with pytest.raises(InvalidTaskError, match="the data of a state must be JSON"):
        Transition.to("state", data)
    with pytest.raises(InvalidTaskError, match="the data of a state must be JSON"):
        Transition.stay(data)
    ring: list[object] = []
    ring.append(ring)
    with pytest.raises(InvalidTaskError, match="the data of a state must be JSON"):
        Transition.to("state", ring)


def test_a_state_that_is_given_no_data_has_none() -> None:
    """However the transition is made; an end without data leaves what there is (S0-01)."""
    assert Transition("next") == Transition.to("next")
    assert Transition("next", decision=TaskDecision.SUCCESS).data is None
    assert Transition.finish().data is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(state=st.text(min_size=1).map(lambda text: f"state {text}"[:250]), data=JSON, failures=st.integers(0, 9))
def test_what_is_stored_is_what_is_read(state: str, data: object, failures: int) -> None:
    """Any state and any data, told from every first input (S0-01)."""
    try:
        state = checked_state(state)
    except InvalidTaskError:
        reject()
    stood = MachineState(state, written(data), failures)
    assert MachineState.read(stood.text, "initial") == stood
    assert stood.value == data
    assert stood.text.isascii()
    first = MachineState.read(json.dumps([data]), "initial")
    assert (first.state, first.value, first.failures) == ("initial", [data], 0)


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "state twice": (lambda: StateMachine("a").on("a", finish).on("a", finish), "there is a state 'a' already"),
    "blank initial state": (lambda: StateMachine(" "), "state must not be empty"),
    "initial state no text": (lambda: StateMachine(None), "state must be a str"),  # type: ignore[arg-type]
    "blank state": (lambda: StateMachine("a").on("", finish), "state must not be empty"),
    "long state": (lambda: StateMachine("a").on("x" * 251, finish), "state of 251 characters is too long"),
    "no function": (lambda: StateMachine("a").on("a", "finish"), "must be a function"),  # type: ignore[arg-type]
    "function of one": (lambda: StateMachine("a").on("a", lambda _: None), "must take .task, data."),
    "no lease": (lambda: StateMachine("a").on("a", finish, timedelta()), "lease must be a timedelta longer"),
    "blank target": (lambda: Transition.to("\n"), "state must not be empty"),
    "naive moment": (lambda: Transition.stay(1, datetime(2026, 1, 1)), "aware"),  # noqa: DTZ001 - the mistake
    "message no text": (lambda: Transition.finish(1), "message must be a str"),  # type: ignore[arg-type]
    "no initial state": (lambda: StateMachine("a").on("b", finish).bind(None, None), "initial state 'a' has no"),  # type: ignore[arg-type]
    "no concurrency": (lambda: _bind(concurrency=0), "concurrency must be at least 1, not 0"),
    "no interval": (lambda: _bind(interval=timedelta()), "interval must be a timedelta longer than zero"),
    "no postponement": (lambda: _bind(postpone=timedelta()), "postpone must be a timedelta longer than zero"),
}


def _bind(**options: Any) -> object:
    return StateMachine("a").on("a", finish).bind(None, None, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found_at_once(mistake: str) -> None:
    """Each is told in a sentence that says what to do (DESIGN 3)."""
    make, problem = MISTAKES[mistake]
    with pytest.raises(InvalidTaskError, match=problem):
        make()


def test_a_machine_is_immutable() -> None:
    """Adding a state gives another machine (DESIGN 7)."""
    first = StateMachine("a")
    second = first.on("a", finish)
    third, other = second.on("b", finish), second.on("c", max)  # which does not say what it takes
    assert [each.states for each in (first, second, third, other)] == [(), ("a",), ("a", "b"), ("a", "c")]
    assert {each.initial for each in (first, second, third, other)} == {"a"}


@contextmanager
def no_threads(name: str) -> Iterator[threading.Event]:
    """Let no thread start whose name begins so, and tell when one should have."""
    refused, start = threading.Event(), threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if not thread.name.startswith(name):
            return start(thread)
        refused.set()
        message = "can't start new thread"
        raise RuntimeError(message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        yield refused


def test_a_task_that_can_not_be_watched_is_not_waited_for(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """A handler that could not begin can be closed."""
    handler = StateMachine("initial").on("initial", finish).bind(repository, backend.begin)(topic)
    with no_threads("task-watch"), pytest.raises(RuntimeError, match="new thread"):
        handler([Task(1, "a")], lambda _: True, lambda _: True)
    closing = threading.Thread(target=handler.close, daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()


def test_a_lease_that_no_thread_could_extend_is_extended_later(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """The next look tries again."""
    push(backend, repository, topic, "a")
    watched = Watched(*poll(backend, repository, topic))
    watched.lease = timedelta(days=10_000)  # more than the clock has counted, which begins with the machine
    watch = ClaimWatch(topic, repository, backend.begin, timedelta(milliseconds=20), 1)
    with closing(watch):
        with no_threads("task-extension") as refused:
            watch.begin([watched])
            assert refused.wait(10)
        eventually(lambda: info(backend, repository, topic, watched.task).lease is not None)
