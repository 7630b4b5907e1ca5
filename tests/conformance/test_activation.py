"""The stored wish whether a topic is processed."""

import pytest

from task_api import TOPIC_LENGTH
from tests.backends import Backend
from tests.conformance.scenes import Repository, run


def test_nothing_stored_is_none(backend: Backend, repository: Repository, topic: str) -> None:
    """A topic about which nobody has said anything is neither active nor inactive (PN-06)."""
    assert run(backend, repository.activation, topic) is None


@pytest.mark.parametrize("active", [False, True])
def test_the_wish_is_stored(backend: Backend, repository: Repository, topic: str, *, active: bool) -> None:
    """Everybody sees it, for this topic alone (PN-01, PN-06)."""
    run(backend, repository.initialize, "other")

    run(backend, repository.activate, topic, active=active)

    assert run(backend, backend.repository("another").activation, topic) is active
    assert run(backend, repository.activation, "other") is None


def test_the_last_wish_counts(backend: Backend, repository: Repository, topic: str) -> None:
    """It can be changed and repeated at will (PN-01, PN-06)."""
    seen = []
    for active in (True, False, False, True):
        run(backend, repository.activate, topic, active=active)
        seen.append(run(backend, repository.activation, topic))

    assert seen == [True, False, False, True]


def test_a_rollback_undoes_the_wish(backend: Backend, repository: Repository, topic: str) -> None:
    """The caller owns the transaction (PN-01, P7)."""
    run(backend, repository.activate, topic, active=True)

    tx = backend.open()
    repository.activate(tx, topic, active=False)
    assert repository.activation(tx, topic) is False
    backend.close(tx)

    assert run(backend, repository.activation, topic) is True


def test_a_destroyed_topic_is_forgotten(backend: Backend, repository: Repository, topic: str) -> None:
    """A new topic of the name starts without a wish (PU-07, PN-06)."""
    run(backend, repository.activate, topic, active=False)

    run(backend, repository.destroy, topic)
    run(backend, repository.initialize, topic)

    assert run(backend, repository.activation, topic) is None


def test_a_wish_does_not_stop_polls(backend: Backend, repository: Repository, topic: str) -> None:
    """It is advice to processors; the repository itself obeys its callers (PN-01)."""
    run(backend, repository.activate, topic, active=False)

    with backend.begin() as tx:
        task = repository.push(tx, topic, "a")
        assert repository.poll(tx, topic) == task


def test_the_longest_topic_has_an_activation(backend: Backend, repository: Repository) -> None:
    """250 characters of four bytes each are kept (PN-B7)."""
    name = "\N{GRINNING FACE}" * TOPIC_LENGTH
    run(backend, repository.initialize, name)

    run(backend, repository.activate, name, active=True)

    assert run(backend, repository.activation, name) is True
