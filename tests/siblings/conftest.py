"""What most tests of slots start from."""

import pytest

from task_processor.slots.slots import TimeSlots
from tests.conformance.scenes import Repository
from tests.siblings.slot_scenes import FIVE, Slots


@pytest.fixture
def slots(repository: Repository, topic: str) -> Slots:
    """Slots of five minutes."""
    return TimeSlots(repository, topic, FIVE)
