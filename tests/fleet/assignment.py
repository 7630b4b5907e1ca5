"""What a member is to do, as text on its command line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import Enum

from task_api import Claim


class Stall(Enum):
    """Where a member stops working and waits for its end."""

    CLAIMED = "CLAIMED"
    """A batch was polled, and nothing of it was done."""
    HALF = "HALF"
    """Half of a batch's effects were written in the transaction that decides it."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One member."""

    owner: str
    """Who claims the tasks."""
    url: str
    """The database."""
    topic: str = "topic"
    """What to work on."""
    claim: Claim = Claim.COMMITTED
    """How tasks are held."""
    whole: bool = False
    """Whether a batch is worked on as a whole instead of task by task."""
    size: int = 100
    """How many tasks make a batch."""
    ahead: int = 0
    """How many batches may be polled while one is worked on."""
    stall: Stall | None = None
    """Where to stop working, if anywhere."""
    after: int = 2
    """How many batches to finish before that."""
    heartbeat: float = 0.5
    """Seconds between heartbeats."""
    expiry: float = 4.0
    """Seconds of silence after which tasks are taken from an owner."""
    pause: float = 0.1
    """Seconds to wait after a poll that found nothing."""
    grace: float = 20.0
    """Seconds that work may go on after the request to stop."""
    notified: bool = False
    """Whether a notifier wakes it."""

    def dump(self) -> str:
        """As text."""
        return json.dumps({**asdict(self), "claim": self.claim.name, "stall": self.stall and self.stall.name})

    @staticmethod
    def load(text: str) -> Assignment:
        """From text."""
        fields = json.loads(text)
        stall = fields.pop("stall")
        return Assignment(**{**fields, "claim": Claim[fields["claim"]]}, stall=stall and Stall[stall])

    def span(self, seconds: float) -> timedelta:
        """A number of seconds as the API wants it."""
        return timedelta(seconds=seconds)
