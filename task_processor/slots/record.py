"""What a slot's task keeps in its input besides its name."""

import json
import secrets
from dataclasses import dataclass, replace
from typing import Self

__all__ = ["SlotRecord"]


@dataclass(frozen=True, slots=True)
class SlotRecord:
    """What is remembered of a slot over all its outcomes, whatever becomes of its task's output."""

    cover: str | None = None
    """The call that created it, so that of several who do so at the same time each knows its own."""
    failures: int = 0
    """How often it failed."""
    failed: bool = False
    """Whether a failure was its last outcome."""
    message: str | None = None
    """What that failure said."""

    @classmethod
    def fresh(cls) -> Self:
        """Begin one that no other call has."""
        return cls(secrets.token_hex(8))

    @classmethod
    def read(cls, text: str | None) -> Self:
        """Read what `text` wrote; of what others wrote nothing is known."""
        try:
            stored = json.loads(text or "{}")
        except ValueError:
            return cls()
        if not isinstance(stored, dict):
            return cls()
        return cls(stored.get("cover"), stored.get("failures", 0), stored.get("failed", False), stored.get("message"))

    @property
    def text(self) -> str:
        """The record as it is stored; what is as in the beginning is left out."""
        known = {"cover": self.cover, "failures": self.failures, "failed": self.failed, "message": self.message}
        return json.dumps({name: value for name, value in known.items() if value}, ensure_ascii=False)

    def after_failure(self, message: str | None) -> Self:
        """Note a failure."""
        return replace(self, failures=self.failures + 1, failed=True, message=message)

    def after_outcome(self) -> Self:
        """Note an outcome that is none."""
        return replace(self, failed=False, message=None)
