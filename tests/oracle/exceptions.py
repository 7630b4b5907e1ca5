"""
The tests that can't run on the double of Oracle, each with its reason; on a server they all run.

There are to be fewer than ten, and ``test_exceptions`` sees to it that each of them still names a test.
"""

from __future__ import annotations

from typing import Final

EXCEPTIONS: Final[dict[str, str]] = {}
"""The reason why a test can't run on the double, by ``tests/folder/file.py::test_name``."""
