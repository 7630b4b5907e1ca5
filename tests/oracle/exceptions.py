"""
The tests that can't run on the double of Oracle, each with its reason; on a server they all run.

There are to be fewer than ten, and ``test_exceptions`` sees to it that each of them still names a test.
"""

from __future__ import annotations

from typing import Final

EXCEPTIONS: Final[dict[str, str]] = {
    "tests/fleet/test_woken.py::test_an_idle_worker_begins_when_a_task_is_pushed": (
        "waits for continuous query notification, which the double does not have"
    ),
}
"""The reason why a test can't run on the double, by ``tests/folder/file.py::test_name``."""
