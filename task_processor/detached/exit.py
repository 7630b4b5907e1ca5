"""How a detached process ends."""

from enum import IntEnum

__all__ = ["DetachedExit"]


class DetachedExit(IntEnum):
    """The exit codes of detached processes; any other one is a crash, and a negative one the signal that killed it."""

    DONE = 0
    """The task is decided: by what the function returned, by the function itself, or long before."""
    DUPLICATE = 100
    """Whoever started the process does not hold the task any more; nothing was done."""
    RAISED = 101
    """The function raised; the task has failed, with message and trace, unless it is tried again."""
    UNDECIDED = 102
    """The function ended, or was ended, without a decision that counts; most often others hold the task now."""
    MISSING = 103
    """There is no such task; nothing was done."""
    BAD_FUNCTION = 104
    """The function could not be found; the task has failed and says why."""
    UNREACHABLE = 105
    """The database was away at the start, or the disk full; nothing was done."""
    STOPPED = 106
    """The process was asked to stop and gave its task back."""
