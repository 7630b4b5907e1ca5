"""Limiters: who gets a slot, and when."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from task_api import InvalidTaskError
from task_processor import TaskLimiter

if TYPE_CHECKING:
    from task_processor import TaskToken


def granted(*tokens: TaskToken) -> list[bool]:
    """Which requests have a slot by now."""
    return [token.wait(0) for token in tokens]


def test_unlimited_never_waits() -> None:
    """However many are asked for, all are there (LM-01)."""
    limiter = TaskLimiter.unlimited()
    tokens = [limiter.request("topic") for _ in range(1000)]
    assert granted(*tokens) == [True] * 1000
    tokens[0].cancel()
    tokens[0].release()


def test_bounded_shares_its_slots_over_all_topics() -> None:
    """The next request waits until a slot is given back, first come, first served (LM-02, LM-04)."""
    limiter = TaskLimiter.bounded(2)
    tokens = [limiter.request(topic) for topic in ("a", "b", "c", "d")]
    assert granted(*tokens) == [True, True, False, False]
    tokens[1].release()
    assert granted(*tokens[2:]) == [True, False]


def test_a_slot_given_back_twice_counts_once() -> None:
    """A second release frees nothing (LM-03)."""
    limiter = TaskLimiter.bounded(1)
    first = limiter.request("a")
    first.release()
    first.release()
    assert granted(limiter.request("b"), limiter.request("c")) == [True, False]


def test_the_highest_priority_is_served_first() -> None:
    """Equal priorities are served in the order of their requests (LM-05)."""
    limiter = TaskLimiter.prioritizing(1, {"low": 1, "high": 3, "middle": 2}.__getitem__)
    holder = limiter.request("low")
    tokens = {name: limiter.request(name.split()[0]) for name in ("low", "high", "middle", "high 2")}
    served = []
    for _ in range(4):
        holder.release()
        [name] = [name for name, token in tokens.items() if token.wait(0)]
        served.append(name)
        holder = tokens.pop(name)
    assert served == ["high", "high 2", "middle", "low"]


def test_the_priority_is_that_of_the_request() -> None:
    """A later change does not reorder the queue; low ones wait as long as higher ones come (LM-06, LM-B3)."""
    priorities = {"a": 1, "b": 2}
    limiter = TaskLimiter.prioritizing(1, priorities.__getitem__)
    holder, first, second = limiter.request("a"), limiter.request("a"), limiter.request("b")
    priorities["a"] = 3
    holder.release()
    assert granted(first, second) == [False, True]


@pytest.mark.parametrize("end", ["cancel", "release"])
def test_a_request_that_is_given_up_takes_no_slot(end: str) -> None:
    """It leaves the queue, its waiter goes on without a slot, and the next one is served (LM-07, LM-B1)."""
    limiter = TaskLimiter.prioritizing(1, lambda _: 0)
    holder, waiting, after = (limiter.request("topic") for _ in range(3))
    results = []
    thread = threading.Thread(target=lambda: results.append(waiting.wait(30)))
    thread.start()
    getattr(waiting, end)()
    thread.join(30)
    assert results == [False]
    holder.release()
    assert granted(after) == [True]
    waiting.release()
    assert granted(limiter.request("topic")) == [False]


def test_cancelling_a_granted_request_keeps_its_slot() -> None:
    """Only what still waits is cancelled (LM-07)."""
    limiter = TaskLimiter.bounded(1)
    token = limiter.request("topic")
    token.cancel()
    assert granted(token, limiter.request("topic")) == [True, False]


def test_no_slot_is_lost_between_threads() -> None:
    """Slots go round among many threads without one falling between a look and a wait (LM-02, LM-B2)."""
    limiter = TaskLimiter.prioritizing(3, len)
    lock = threading.Lock()
    present, highest, done = 0, 0, 0

    def work(topic: str) -> None:
        nonlocal present, highest, done
        for round_ in range(200):
            token = limiter.request(topic)
            if round_ % 7 == 0:
                token.cancel()
            if token.wait(30):
                with lock:
                    present += 1
                    highest = max(highest, present)
                with lock:
                    present -= 1
                    done += 1
            token.release()

    threads = [threading.Thread(target=work, args=("x" * number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done >= 8 * (200 - 29)
    assert highest <= 3
    assert granted(*(limiter.request("x") for _ in range(4))) == [True, True, True, False]


@pytest.mark.parametrize("slots", [0, -1, "2"])
def test_a_limiter_has_at_least_one_slot(slots: int) -> None:
    """Without a slot nothing would ever run (LM-02)."""
    with pytest.raises(InvalidTaskError):
        TaskLimiter.bounded(slots)
