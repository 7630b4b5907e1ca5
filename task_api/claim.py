"""How a polled task is held until it is decided."""

from enum import Enum

__all__ = ["Claim"]


class Claim(Enum):
    """How a polled task is held until it is decided."""

    COMMITTED = "COMMITTED"
    """ACTIVE in the database: poll, commit, work, decide in a later transaction. Heartbeats guard it."""
    TRANSACTION = "TRANSACTION"
    """
    Held by the polling transaction alone, READY for everybody else: poll, work and decide in one transaction.

    A rollback or a crash frees it at once; it can be decided in that transaction only. For short work.
    """
