"""What one repository knows about the head of one topic: how far its consumers have come, and who waits there."""

from ..transaction import Row, Transaction
from .backlog import Backlog
from .claim import PROBE
from .floor import Floor

__all__ = ["Head"]


class Head:
    """The floor of a topic, and the backlog of its SINGULAR polls."""

    __slots__ = ("backlog", "floor")

    def __init__(self) -> None:
        self.floor = Floor()
        self.backlog = Backlog()

    def advance(self, tx: Transaction, topic: str) -> None:
        """Learn how far the consumers have come and who waits, now and then; to be called before a SINGULAR poll."""
        if look := self.floor.due():
            [found] = tx.rows(PROBE, {"topic": topic, "floor": look.start})
            if self.floor.learn(look, *found):
                self.backlog.advance(tx, topic, self.floor.sequence, self.floor.settled, afresh=look.afresh)

    def outdated(self, tx: Transaction) -> bool:
        """Tell whether it is about another database than there is now, and forget it then; for a poll in vain."""
        if not self.floor.outdated(tx):
            return False
        self.floor.forget()
        self.backlog.forget()
        return True

    def passed(self, start: int, rows: list[Row], size: int, *, singular: bool) -> None:
        """Note what a poll brought, and from where on it looked."""
        sequences = [row[0] for row in rows]
        self.floor.passed(max(sequences), len(sequences))
        if singular:
            self.backlog.passed(start, sequences, size)
