"""What comes in while faults strike alone."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.fire.conductor import Orders

if TYPE_CHECKING:
    import pytest


def test_orders_come_at_a_steady_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each producer has its share, which waits for one that is away, and nobody gets more than there is room for."""
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    first, second = producers = [member(0, 1000), member(1, 50)]
    orders = Orders(10.0, producers)
    assert [orders.limit(first, 9999), orders.limit(second, 9999)] == [1000, 50]
    now += 4.0
    assert [orders.limit(first, 9999), orders.limit(second, 9999)] == [1020, 70]
    assert orders.limit(first, 1007) == 1007


def test_without_a_rate_there_is_no_limit() -> None:
    """But the room that there is."""
    assert Orders(0.0, [member(0, 1000)]).limit(member(0, 1000), 9999) == 9999


def member(number: int, pushed: int) -> Any:  # noqa: ANN401 - as much of a process as is asked for
    """A producer that has pushed."""
    return SimpleNamespace(number=number, heard=Counter(pushed=pushed))
