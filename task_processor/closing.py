"""What becomes of batches that wait when their handler is closed."""

from enum import Enum

__all__ = ["OnClose"]


class OnClose(Enum):
    """What becomes of batches that wait when their handler is closed. Work that has begun is always finished."""

    FINISH_PENDING = "FINISH_PENDING"
    """They are worked on, and closing waits for that."""
    FAIL_PENDING = "FAIL_PENDING"
    """They fail with a ShutdownError; of a batch in several steps the steps that run are finished first."""
