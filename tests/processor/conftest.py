"""What tests of processing share."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.processor.support import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def no_thread_is_left() -> Iterator[None]:
    """Insist that what a test has started ends with it."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("task-"):
            thread.join(PATIENCE)
            assert not thread.is_alive(), thread.name
