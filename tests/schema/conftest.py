"""What the tests of the schema share."""

import pytest

from task_sql import schema
from tests.backends import Backend
from tests.conformance.scenes import run


@pytest.fixture
def empty(backend: Backend) -> Backend:
    """A database without the schema."""
    run(backend, schema.uninstall)
    return backend
