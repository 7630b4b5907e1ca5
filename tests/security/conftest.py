"""The shipped roles in the test's own database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.security.accounts import Accounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.backends import Backend


@pytest.fixture
def accounts(backend: Backend) -> Iterator[Accounts]:
    """The roles, and users to be made."""
    made = Accounts(backend)
    yield made
    made.drop()
