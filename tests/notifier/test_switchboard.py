"""Who is told what, and what becomes of errors."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from task_api import InvalidTaskError
from task_sql.notifier.reporting import reporting
from task_sql.notifier.switchboard import Switchboard
from tests.notifier.support import PATIENCE, Errors, Puppet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Boards = Callable[..., Switchboard]


@pytest.fixture
def errors() -> Errors:
    """What was reported."""
    return Errors()


@pytest.fixture
def board(errors: Errors) -> Iterator[Boards]:
    """Makes switchboards that are closed in the end."""
    made = []

    def make(*processors: Puppet) -> Switchboard:
        made.append(Switchboard(processors, reporting(errors)))
        return made[-1]

    yield make
    for each in made:
        each.close()
        assert each.join(PATIENCE)


def test_work_resumes_those_of_the_topic_alone(board: Boards) -> None:
    """Several may work on one topic; the others are left alone, and nobody's activation is read (PN-09)."""
    one, two, other = Puppet("a"), Puppet("a"), Puppet("b")
    board(one, two, other).work("a")
    assert (one.calls, two.calls, other.calls) == (["resume"], ["resume"], [])


def test_unknown_topics_are_ignored(board: Boards) -> None:
    """Topics that nobody here works on are none of its business (PN-08)."""
    puppet = Puppet("a")
    exchange = board(puppet)
    exchange.work("b")
    exchange.activation("b")
    assert puppet.calls == []
    assert exchange.topics == {"a"}


def test_a_stored_start_starts_and_does_not_stop(board: Boards) -> None:
    """Each answer has a branch of its own (PN-10, PN-B2)."""
    puppet, fence = Puppet("a"), Puppet("fence")
    puppet.stored = True
    exchange = board(puppet, fence)
    exchange.activation("a")
    exchange.activation("fence")
    fence.wait("activation")
    assert puppet.calls == ["activation", "initialize"]
    assert puppet.active


def test_a_stored_stop_stops(board: Boards) -> None:
    """One that runs is stopped, and not told to store that again (PN-10, PN-B8)."""
    puppet, fence = Puppet("a", active=True), Puppet("fence")
    puppet.stored = False
    exchange = board(puppet, fence)
    exchange.activation("a")
    exchange.activation("fence")
    fence.wait("activation")
    assert puppet.calls == ["activation", "shutdown"]


def test_a_start_is_not_lost_on_one_that_is_still_ending(board: Boards) -> None:
    """It is started once it has ended, although it was active when that was stored (PN-10)."""
    puppet, fence = Puppet("a", active=True), Puppet("fence")
    puppet.stored = False
    puppet.trouble["shutdown"] = [TimeoutError()]
    puppet.before["shutdown"] = lambda: setattr(puppet, "stored", True)
    exchange = board(puppet, fence)
    exchange.activation("a")
    puppet.wait("initialize")
    exchange.activation("a")
    exchange.activation("fence")
    fence.wait("activation")
    assert [call for call in puppet.calls if call != "activation"] == ["shutdown", "initialize"]


@pytest.mark.parametrize(("stored", "active"), [(None, False), (None, True), (True, True), (False, False)], ids=str)
def test_what_is_as_stored_stays(board: Boards, *, stored: bool | None, active: bool) -> None:
    """Nothing stored says nothing, and what runs is not started again (PN-10, PN-B2)."""
    puppet, fence = Puppet("a", active=active), Puppet("fence")
    puppet.stored = stored
    exchange = board(puppet, fence)
    exchange.activation("a")
    exchange.activation("fence")
    fence.wait("activation")
    assert puppet.calls == ["activation"]
    assert puppet.active is active


def test_everything_resumes_and_reads_each(board: Boards) -> None:
    """After a gap nobody knows what was missed (PN-B5)."""
    puppets = [Puppet("a"), Puppet("b")]
    board(*puppets).everything()
    for puppet in puppets:
        puppet.wait("activation")
        assert sorted(puppet.calls) == ["activation", "resume"]


def test_a_start_that_takes_long_holds_up_no_wake_up(board: Boards) -> None:
    """Work for others is passed on meanwhile; other starts wait for their turn (PN-09, PN-10)."""
    gate, begun = threading.Event(), threading.Event()
    slow, other = Puppet("slow"), Puppet("other")
    slow.stored = other.stored = True

    def wait() -> None:
        begun.set()
        assert gate.wait(PATIENCE)

    slow.before["initialize"] = wait
    exchange = board(slow, other)
    exchange.activation("slow")
    assert begun.wait(PATIENCE)
    exchange.activation("other")
    exchange.work("other")
    assert other.calls == ["resume"]
    gate.set()
    other.wait("initialize")


def test_announcements_of_a_waiting_activation_are_one(board: Boards) -> None:
    """What is stored is read once for all that was announced before (PN-10)."""
    gate, begun = threading.Event(), threading.Event()
    slow, other, fence = Puppet("slow"), Puppet("other"), Puppet("fence")

    def wait() -> None:
        begun.set()
        assert gate.wait(PATIENCE)

    slow.before["activation"] = wait
    exchange = board(slow, other, fence)
    exchange.activation("slow")
    assert begun.wait(PATIENCE)
    for _ in range(100):
        exchange.activation("other")
    exchange.activation("fence")
    gate.set()
    fence.wait("activation")
    assert other.calls == ["activation"]


def test_errors_of_a_processor_are_reported_and_hit_nobody_else(board: Boards, errors: Errors) -> None:
    """The next one is resumed all the same (PN-12, PN-B6)."""
    bad, good = Puppet("a"), Puppet("a")
    bad.trouble["resume"] = [ZeroDivisionError("resume")]
    board(bad, good).work("a")
    assert good.calls == ["resume"]
    assert [str(error) for error in errors.seen] == ["resume"]


@pytest.mark.parametrize("call", ["activation", "initialize"])
def test_a_start_that_failed_is_tried_again(board: Boards, errors: Errors, call: str) -> None:
    """A pool may give out connections that a restart has cut: the stored wish is not forgotten (PN-12, PN-B5)."""
    puppet = Puppet("a")
    puppet.stored = True
    puppet.trouble[call] = [OSError("first"), OSError("second")]
    board(puppet).activation("a")
    puppet.wait("initialize", 3 if call == "initialize" else 1)
    assert puppet.count(call) == 3
    assert [str(error) for error in errors.wait(2)] == ["first", "second"]


def test_a_consumer_of_errors_that_raises_is_logged(
    board: Boards, errors: Errors, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends nothing either (PN-12)."""

    def fail(_: Errors, error: BaseException) -> None:
        raise RuntimeError from error

    monkeypatch.setattr(Errors, "__call__", fail)
    bad, good = Puppet("a"), Puppet("a")
    bad.trouble["resume"] = [ZeroDivisionError()]
    board(bad, good).work("a")
    assert good.calls == ["resume"]
    assert "the consumer of a notifier's errors raised" in caplog.text
    assert errors.seen == []


def test_without_a_consumer_errors_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """They are never silent (PN-12)."""
    reporting(None)(ZeroDivisionError("by zero"))
    assert "ZeroDivisionError: by zero" in caplog.text


def test_nobody_is_told_after_the_close(board: Boards) -> None:
    """Neither at once nor later, though it was waiting already (PN-09)."""
    gate, begun = threading.Event(), threading.Event()
    slow, waiting = Puppet("slow"), Puppet("waiting")
    slow.stored = waiting.stored = True

    def wait() -> None:
        begun.set()
        assert gate.wait(PATIENCE)

    slow.before["activation"] = wait
    exchange = board(slow, waiting)
    exchange.activation("slow")
    assert begun.wait(PATIENCE)
    exchange.activation("waiting")
    exchange.close()
    assert not exchange.join(0.01)
    gate.set()
    assert exchange.join(PATIENCE)
    exchange.everything()
    assert slow.calls == ["activation"]
    assert waiting.calls == []


def test_what_is_no_collection_of_processors_is_refused() -> None:
    """The error says what was expected."""
    processors: object = Puppet()
    with pytest.raises(InvalidTaskError, match="an iterable of processors, not Puppet"):
        Switchboard(processors, reporting(None))  # type: ignore[arg-type]
