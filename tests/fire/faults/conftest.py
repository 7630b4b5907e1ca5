"""What the tests of single faults share."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.fire.faults.cluster import Cluster
from tests.fire.faults.proxy import Proxy
from tests.fire.faults.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# No wheel brings PgBouncer: its tests are there for whoever names one.
collect_ignore = [] if "TOPIQ_TEST_PGBOUNCER" in os.environ else ["test_bouncer.py"]


@pytest.fixture
def chance() -> Random:
    """What faults draw from."""
    return Random(7)  # noqa: S311 - to be repeated


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A scene to act on."""
    stage = Stage(tmp_path)
    yield stage
    stage.dismiss()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Servers of these tests' own."""
    cluster = Cluster(standby=True)
    yield cluster
    cluster.stop()


@pytest.fixture
def served(stage: Stage, cluster: Cluster) -> Iterator[Stage]:
    """A scene with PostgreSQL behind a proxy."""
    with Proxy(cluster.port) as proxy:
        stage.cluster, stage.proxy = cluster, proxy
        stage.admin_url, stage.url = cluster.url, proxy.through(cluster.url)
        yield stage
