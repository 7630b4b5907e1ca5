"""A connection of psycopg that stops before whatever it sends to the server."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Callable

_EFFECT = re.compile(
    r"\b(INSERT|UPDATE|DELETE|COPY|SHARE|nextval|setval|set_config|pg_current_xact_id|\w*advisory\w*|task_initialize)\b"
)
_NAMES = {"_commit_gen": "COMMIT", "_rollback_gen": "ROLLBACK"}
_SHOWN = 90


class Effect(Enum):
    """What a step means to others."""

    NONE = "reads what is committed"
    OWN = "locks or writes, which others notice by waiting at most, or by skipping"
    END = "ends a transaction, so that others see what it did"


@dataclass(frozen=True)
class Step:
    """One statement before it is sent."""

    text: str
    """The statement, or COMMIT, or ROLLBACK."""
    effect: Effect

    def commutes(self, other: Step) -> bool:
        """Whether it makes no difference which of two steps of different actors comes first."""
        effects = {self.effect, other.effect}
        return effects in ({Effect.NONE}, {Effect.NONE, Effect.OWN})

    def __str__(self) -> str:
        short = " ".join(self.text.split())
        return short if len(short) <= _SHOWN else f"{short[:_SHOWN]}..."


class SteppedConnection(psycopg.Connection[Any]):
    """A connection whose every statement, commit and rollback asks a gate first, if there is one."""

    gate: Callable[[Step], None] | None = None

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as psycopg has it
        """Send what the generator sends, after the gate has opened."""
        if self.gate is not None:
            self.gate(_step(gen))
        return super().wait(gen, *args, **options)


def _step(gen: Any) -> Step:  # noqa: ANN401 - psycopg's generators
    if name := _NAMES.get(gen.gi_code.co_name):
        return Step(name, Effect.END)
    given = inspect.getgeneratorlocals(gen)
    text = str(given.get("query") or given.get("statement") or gen.gi_code.co_name)
    reads = text.lstrip().startswith(("SELECT", "WITH")) and not _EFFECT.search(text)
    return Step(text, Effect.NONE if reads else Effect.OWN)
