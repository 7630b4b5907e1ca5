"""How a schema was installed."""

from dataclasses import dataclass
from typing import Final

__all__ = ["VERSION", "Layout"]

VERSION: Final = 3
"""The version of the schema that this code speaks."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a schema was installed."""

    version: int
    """Its version."""
    partitioned: bool
    """Whether each topic has a partition of its own."""
    notify: bool
    """Whether calls that make tasks READY, and stored activations, are announced."""
    identity: object = None
    """What tells it from others, where it matters."""
