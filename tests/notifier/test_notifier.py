"""The life of a notifier, from start to stop and through every loss; its news come from the test."""

from __future__ import annotations

import logging
import queue
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from task_api import InvalidTaskError, ProcessorNotifier, SchemaError
from task_sql import Notifier, PollingNotifier
from task_sql.notifier import notifier as module
from task_sql.notifier.backoff import backoff
from task_sql.notifier.feed import EndOfFeed
from tests.notifier.support import PATIENCE, Errors, Puppet, started, threads, until

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from task_sql.notifier.switchboard import Switchboard

MOMENT = timedelta(milliseconds=20)
LONG = timedelta(hours=1)


class Line:
    """A feed whose news the test gives."""

    def __init__(self) -> None:
        self.news: queue.SimpleQueue[Callable[[Switchboard], None] | BaseException | None] = queue.SimpleQueue()
        self.closed = threading.Event()

    def attend(self, board: Switchboard) -> None:
        """Do what the test has given, or raise it."""
        item = self.news.get(timeout=PATIENCE)
        if isinstance(item, BaseException):
            raise item
        if item is not None:
            item(board)

    def wake(self) -> None:
        """End the wait."""
        self.news.put(None)

    def close(self) -> None:
        """Be closed, and raise as a lost connection may."""
        self.closed.set()
        raise OSError


class Exchange:
    """A source whose feeds the test gives, or errors in their stead."""

    remote: ClassVar[bool] = True

    def __init__(self, *answers: Line | BaseException) -> None:
        self.asked = threading.Semaphore(0)
        self.topics: Collection[str] = ()
        self._changed = threading.Condition()
        self._answers = list(answers)
        self._number = 0

    def open(self, topics: Collection[str]) -> Line:
        """Give the next feed, waiting for it like for a server that does not answer."""
        self.topics = topics
        with self._changed:
            number = self._number
            self._number += 1
            self.asked.release()
            assert self._changed.wait_for(lambda: number < len(self._answers), PATIENCE)
            answer = self._answers[number]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def answer(self, answer: Line | BaseException) -> None:
        """Answer the first attempt that has no answer yet."""
        with self._changed:
            self._answers.append(answer)
            self._changed.notify_all()


class LocalExchange(Exchange):
    """A source that answers at once."""

    remote: ClassVar[bool] = False


@pytest.fixture
def errors() -> Errors:
    """What was reported."""
    return Errors()


@pytest.mark.parametrize("kind", [Exchange, LocalExchange])
def test_start_and_stop_tell_whether_they_did_anything(kind: type[Exchange]) -> None:
    """False for a start when active, and for a stop when not; then it may be started again (PN-07)."""
    one, two = Line(), Line()
    source = kind(one, two)
    notifier: ProcessorNotifier = Notifier(source)
    puppet = Puppet("a")
    seen = [notifier.active, notifier.stop(), notifier.start([puppet]), notifier.active, notifier.start([Puppet()])]
    assert seen == [False, False, True, True, False]
    assert notifier.connected
    assert source.topics == {"a"}
    assert [notifier.stop(), notifier.active, notifier.connected, notifier.stop()] == [True, False, False, False]
    assert one.closed.is_set()
    assert threads() == []
    assert notifier.start([puppet])
    assert puppet.count("resume") == 2
    assert notifier.stop()


def test_of_several_starts_one_works() -> None:
    """Nobody listens twice (PN-07)."""
    notifier = Notifier(Exchange(*(Line() for _ in range(8))))
    barrier = threading.Barrier(8)
    answers: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def start() -> None:
        barrier.wait(PATIENCE)
        answers.put(notifier.start([]))

    crowd = [threading.Thread(target=start) for _ in range(8)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join(PATIENCE)
    assert sorted(answers.get() for _ in range(8)) == [False] * 7 + [True]
    assert notifier.stop()


def test_all_are_told_once_the_start_returns() -> None:
    """What was pushed and stored before is not missed (PN-B5)."""
    puppet = Puppet("a")
    puppet.stored = True
    with started(Notifier(Exchange(Line())), puppet):
        assert puppet.count("resume") == 1
        puppet.wait("initialize")


def test_a_loss_is_healed_at_once(errors: Errors, caplog: pytest.LogCaptureFixture) -> None:
    """It is reported once, the notifier stays active, and what was missed is caught up on (PN-11, PN-B5)."""
    caplog.set_level(logging.INFO, "task_sql.notifier")
    one, two = Line(), Line()
    source = Exchange(one)
    puppet = Puppet("a")
    notifier = Notifier(source, errors)
    with started(notifier, puppet):
        assert source.asked.acquire(timeout=PATIENCE)
        one.news.put(ConnectionError("cut"))
        assert source.asked.acquire(timeout=PATIENCE)
        assert (notifier.active, notifier.connected) == (True, False)
        puppet.stored = True
        source.answer(two)
        puppet.wait("resume", 2)
        puppet.wait("initialize")
        assert notifier.connected
        two.news.put(lambda board: board.work("a"))
        puppet.wait("resume", 3)
    assert [str(error) for error in errors.seen] == ["cut"]
    assert caplog.text.count("connected again") == 1
    assert one.closed.is_set()
    assert two.closed.is_set()


def test_an_outage_is_reported_once(errors: Errors) -> None:
    """However often the connection is refused; the next outage is reported again (PN-11)."""
    one, two, three = Line(), Line(), Line()
    source = Exchange(one, OSError("refused"), OSError("refused"), two, OSError("again"), three)
    puppet = Puppet("a")
    with started(Notifier(source, errors), puppet):
        one.news.put(ConnectionError("cut"))
        puppet.wait("resume", 2)
        two.news.put(ConnectionError("cut once more"))
        puppet.wait("resume", 3)
    assert [str(error) for error in errors.seen] == ["cut", "cut once more"]


def test_a_database_that_is_away_at_the_start_is_waited_for(errors: Errors) -> None:
    """That is reported, and no reason not to start (PN-07, PN-11)."""
    source = Exchange(OSError("away"))
    notifier = Notifier(source, errors)
    puppet = Puppet("a")
    with started(notifier, puppet):
        assert [str(error) for error in errors.seen] == ["away"]
        assert (notifier.active, notifier.connected) == (True, False)
        source.answer(Line())
        puppet.wait("resume")
        until(lambda: notifier.connected)


@pytest.mark.parametrize("kind", [Exchange, LocalExchange])
def test_what_will_never_work_is_raised_by_the_start(errors: Errors, kind: type[Exchange]) -> None:
    """A schema that is missing is no outage (PN-07)."""
    notifier = Notifier(kind(SchemaError("no schema"), Line()), errors)
    with pytest.raises(SchemaError, match="no schema"):
        notifier.start([])
    assert not notifier.active
    assert errors.seen == []
    until(lambda: threads() == [])
    assert notifier.start([])
    assert notifier.stop()


def test_what_stops_working_later_is_an_outage(errors: Errors) -> None:
    """A schema that is removed and installed again ends nothing (PN-B6)."""
    one, two = Line(), Line()
    puppet = Puppet("a")
    with started(Notifier(Exchange(one, SchemaError("no schema"), two), errors), puppet):
        one.news.put(SchemaError("gone"))
        puppet.wait("resume", 2)
    assert [str(error) for error in errors.seen] == ["gone"]


def test_a_feed_that_ends_is_opened_anew_without_a_report(errors: Errors) -> None:
    """Nothing was lost, though all are told again to be sure (PN-B5)."""
    one, two = Line(), Line()
    puppet = Puppet("a")
    with started(Notifier(Exchange(one, two), errors), puppet):
        one.news.put(EndOfFeed())
        puppet.wait("resume", 2)
        assert one.closed.is_set()
    assert errors.seen == []


def test_a_start_without_an_answer_takes_only_so_long() -> None:
    """It is not active then, and a connection that comes too late is closed (PN-07)."""
    source, late = Exchange(), Line()
    notifier = Notifier(source)
    puppet = Puppet("a")
    with pytest.raises(TimeoutError, match="neither answered nor refused"):
        notifier.start([puppet], timeout=MOMENT)
    assert not notifier.active
    source.answer(late)
    assert late.closed.wait(PATIENCE)
    until(lambda: threads() == [])
    assert puppet.calls == []


def test_a_reconnection_without_an_answer_is_given_up(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that accepts and then hangs does not hang the notifier (PN-11)."""
    monkeypatch.setattr(module, "_OPENING", 0.05)
    source, late = Exchange(), Line()
    puppet = Puppet("a")
    with started(Notifier(source, errors), puppet):
        assert isinstance(errors.wait()[0], TimeoutError)
        monkeypatch.setattr(module, "_OPENING", 3600.0)
        source.answer(late)  # to the attempt that was given up
        assert late.closed.wait(PATIENCE)
        for _ in range(2):  # the second one may have been given up too
            source.answer(Line())
        puppet.wait("resume")


def test_a_stop_does_not_wait_for_a_connection() -> None:
    """Not for one that is being made, and that is closed when it comes (PN-09)."""
    one, late = Line(), Line()
    source = Exchange(one)
    notifier = Notifier(source, Errors())
    puppet = Puppet("a")
    assert notifier.start([puppet])
    one.news.put(ConnectionError())
    for _ in range(2):
        assert source.asked.acquire(timeout=PATIENCE)
    assert notifier.stop()
    source.answer(late)
    assert late.closed.wait(PATIENCE)
    assert puppet.count("resume") == 1


def test_a_stop_does_not_wait_for_the_next_attempt(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the pause between attempts is (PN-09)."""
    monkeypatch.setattr(module, "backoff", lambda _: 3600.0)
    notifier = Notifier(Exchange(OSError("away")), errors)
    assert notifier.start([])
    assert notifier.stop()


def test_a_stop_waits_for_a_start_that_is_under_way() -> None:
    """Only so long, and no other follows it (PN-09)."""
    gate, begun = threading.Event(), threading.Event()
    puppet, other = Puppet("a"), Puppet("b")
    puppet.stored = other.stored = True

    def wait() -> None:
        begun.set()
        assert gate.wait(PATIENCE)

    puppet.before["initialize"] = wait
    notifier = Notifier(Exchange(Line()))
    assert notifier.start([puppet, other])
    assert begun.wait(PATIENCE)
    with pytest.raises(TimeoutError, match="still being told"):
        notifier.stop(timeout=MOMENT)
    assert not notifier.active
    gate.set()
    until(lambda: threads() == [])
    assert other.count("initialize") == 0


def test_a_processor_may_stop_the_notifier() -> None:
    """Its threads do not wait for themselves, and nobody else is told (PN-09)."""
    line = Line()
    notifier = Notifier(Exchange(line))
    first, second = Puppet("a"), Puppet("a")
    with started(notifier, first, second):
        first.before["resume"] = notifier.stop
        line.news.put(lambda board: board.work("a"))
        first.wait("resume", 2)
        until(lambda: threads() == [])
        assert not notifier.active
        assert second.count("resume") == 1


def test_an_error_of_a_processor_does_not_end_the_notifier(errors: Errors) -> None:
    """It goes to the consumer of errors, and the connection stays (PN-12, PN-B6)."""
    line = Line()
    puppet = Puppet("a")
    notifier = Notifier(Exchange(line), errors)
    with started(notifier, puppet):
        puppet.trouble["resume"] = [ZeroDivisionError("mine")]
        for _ in range(2):
            line.news.put(lambda board: board.work("a"))
        puppet.wait("resume", 3)
        assert notifier.connected
    assert [str(error) for error in errors.seen] == ["mine"]


def test_waits_grow_and_are_spread() -> None:
    """The first attempt comes at once; later ones up to half a minute apart, within ±50 % (PN-11)."""
    assert backoff(1) == 0
    assert {0.05 <= backoff(2) <= 0.15 for _ in range(50)} == {True}
    assert {15 <= backoff(99) <= 45 for _ in range(50)} == {True}
    assert len({backoff(5) for _ in range(50)}) > 1


@pytest.mark.parametrize(("stable", "expected"), [(3600.0, [1, 2]), (0.0, [1, 1])], ids=["short", "long"])
def test_only_a_connection_that_lasted_is_made_again_at_once(
    errors: Errors, monkeypatch: pytest.MonkeyPatch, stable: float, expected: list[int]
) -> None:
    """Losses soon after one another count as failures in a row (PN-11)."""
    failures: queue.SimpleQueue[int] = queue.SimpleQueue()

    def record(number: int) -> float:
        failures.put(number)
        return 0.0

    monkeypatch.setattr(module, "backoff", record)
    monkeypatch.setattr(module, "_STABLE", stable)
    lines = [Line() for _ in range(3)]
    puppet = Puppet("a")
    with started(Notifier(Exchange(*lines), errors), puppet):
        lines[0].news.put(ConnectionError())
        lines[1].news.put(ConnectionError())
        puppet.wait("resume", 3)
        assert [failures.get(timeout=PATIENCE) for _ in range(2)] == expected


@pytest.mark.parametrize("timeout", [timedelta(seconds=-1), 5, "soon"])
def test_wrong_timeouts_are_refused(timeout: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """Before anything happens."""
    notifier = Notifier(Exchange())
    with pytest.raises(InvalidTaskError, match="timeout must be"):
        notifier.start([], timeout=timeout)
    with pytest.raises(InvalidTaskError, match="timeout must be"):
        notifier.stop(timeout=timeout)
    assert not notifier.active


def test_a_start_with_wrong_processors_leaves_it_inactive() -> None:
    """It can be started rightly afterwards."""
    notifier = Notifier(Exchange(Line()))
    wrong: Any = Puppet()
    with pytest.raises(InvalidTaskError, match="an iterable of processors"):
        notifier.start(wrong)
    assert not notifier.active
    assert notifier.start([])
    assert notifier.stop()


def test_polling_needs_no_database() -> None:
    """All are resumed and their activations read, again and again, until it is stopped (PN-07, PN-09, PN-10)."""
    one, two = Puppet("a"), Puppet("b", active=True)
    one.stored, two.stored = True, False
    notifier = PollingNotifier(timedelta(milliseconds=1))
    with started(notifier, one, two):
        assert (notifier.active, notifier.connected) == (True, True)
        for puppet in (one, two):
            puppet.wait("resume", 5)
            puppet.wait("activation", 5)
    assert (one.count("initialize"), two.count("shutdown")) == (1, 1)
    calls = len(one.calls)
    assert threads() == []
    assert len(one.calls) == calls


def test_a_polling_notifier_stops_without_waiting_for_its_next_round() -> None:
    """However long its interval is (PN-07)."""
    notifier = PollingNotifier(LONG)
    with started(notifier, Puppet()):
        pass
    assert threads() == []


@pytest.mark.parametrize("interval", [timedelta(), timedelta(seconds=-1), 1])
def test_wrong_intervals_are_refused(interval: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """Before anything happens."""
    with pytest.raises(InvalidTaskError, match="interval must be a timedelta of more than 0"):
        PollingNotifier(interval)


def test_a_stop_in_the_midst_of_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may come before there is a thread, which ends at once then (PN-07)."""
    notifier = Notifier(Exchange(Line()))
    begin = module._Run.start  # noqa: SLF001 - where a stop may come

    def start(run: Any, timeout: float | None) -> None:  # noqa: ANN401 - private
        with pytest.raises(TimeoutError, match="still being told"):
            notifier.stop(MOMENT)
        begin(run, timeout)

    monkeypatch.setattr(module._Run, "start", start)  # noqa: SLF001
    notifier.start([Puppet()])
    assert (notifier.active, notifier.stop()) == (False, False)
