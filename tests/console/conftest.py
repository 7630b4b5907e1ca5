"""The command line on the test's own database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.console.calls import Topiq

if TYPE_CHECKING:
    from tests.backends import Backend


@pytest.fixture
def topiq(backend: Backend) -> Topiq:
    """The command line, with the URL in the environment."""
    return Topiq(backend)
