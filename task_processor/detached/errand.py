"""What a detached process is to do, as text that is handed to it through a pipe: nobody else can read it."""

import io
import json
import pickle
import random
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Self

from task_api import InvalidTaskError

from ..retry import RetryPolicy

__all__ = ["ANSWER", "LONGEST", "Errand", "packed"]

ANSWER: Final = b"taken\n"
"""What the process says as soon as it has the task."""
LONGEST: Final = 3600.0
"""For how many seconds to wait at once, as the system can't wait for more than some weeks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One task, and how to work on it. Times are seconds."""

    url: str
    """The database, secrets included."""
    topic: str
    """The task's topic."""
    sequence: int
    """The task's sequence."""
    identifier: str
    """What the task is about."""
    token: int
    """The claim that the process is to take over."""
    function: str
    """What works on the task, as ``module:function``."""
    paths: list[str]
    """Where Python is to look for it."""
    folder: str
    """The folder of the logs."""
    lock: int
    """The open file whose lock says that the process lives."""
    answer: int
    """The open file to say in that the task was taken over."""
    heartbeat: float
    """How often to beat."""
    expiry: float
    """How long it may be silent before it must take its task for lost."""
    grace: float
    """How long the function may go on once it is to stop."""
    lease: float | None
    """How long the claim lasts unless it is extended."""
    retry: str | None
    """What becomes of failures, see `packed`."""

    def dump(self) -> bytes:
        """As text."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def load(cls, text: bytes) -> Self:
        """From text."""
        return cls(**json.loads(text))

    @property
    def logs(self) -> Path:
        """The folder of the logs as the API wants it."""
        return Path(self.folder)

    @property
    def lease_time(self) -> timedelta | None:
        """The lease as the API wants it."""
        return None if self.lease is None else timedelta(seconds=self.lease)

    @property
    def policy(self) -> RetryPolicy | None:
        """What becomes of failures, as the API wants it."""
        return None if self.retry is None else unpacked(self.retry)


def packed(policy: RetryPolicy | None) -> str | None:
    """
    Return a policy as text.

    Raises:
        InvalidTaskError: it is none, or something in it can't be sent to another process.

    """
    if policy is None:
        return None
    if not isinstance(policy, RetryPolicy) or any(kind.__module__ == "__main__" for kind in policy.rules):
        message = f"retry must be a RetryPolicy whose errors a new process can import, not {policy!r}"
        raise InvalidTaskError(message)
    try:
        _Pickler(file := io.BytesIO()).dump(policy)
    except Exception as error:
        message = f"retry must be a RetryPolicy that another process can be sent, which {policy!r} can't: {error}"
        raise InvalidTaskError(message) from error
    return b64encode(file.getvalue()).decode()


def unpacked(text: str) -> RetryPolicy:
    """Return the policy that a text stands for."""
    policy: RetryPolicy = pickle.loads(b64decode(text))  # noqa: S301 - from whoever started the process
    return policy


class _Pickler(pickle.Pickler):
    """Sends Python's own chance by its name: with the state of its generator, all processes would draw the same."""

    def reducer_override(self, value: object) -> Any:  # noqa: ANN401 - as declared
        return (_chance, ()) if value is random.random else NotImplemented


def _chance() -> Callable[[], float]:
    return random.random
