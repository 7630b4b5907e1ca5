"""What the parser said, by the hash of what it was asked."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .node import fingerprint
from .tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE: Final = Path(__file__).parent / "verdicts.json"
ACCEPTED: Final = "ok"


def key(text: str, parser: str | None = None) -> str:
    """Return the hash of a statement, however it is spaced, and of how it is parsed."""
    parts = [parser or fingerprint(), *(f"{token.kind.value} {token.text}" for token in tokens(text))]
    return sha256("\0".join(parts).encode()).hexdigest()


def load(path: Path = FILE) -> dict[str, str]:
    """Read the verdicts."""
    verdicts: dict[str, str] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return verdicts


def save(verdicts: Mapping[str, str], path: Path = FILE) -> None:
    """Write the verdicts, one a line, in the order of their keys."""
    path.write_text(json.dumps(verdicts, indent=0, sort_keys=True, ensure_ascii=False) + "\n", "utf-8", newline="\n")


def unknown(texts: Mapping[str, str], verdicts: Mapping[str, str]) -> dict[str, str]:
    """Return those of the named statements that have no verdict, each once."""
    return {name: text for name, text in _once(texts).items() if key(text) not in verdicts}


def stale(texts: Iterable[str], verdicts: Mapping[str, str]) -> set[str]:
    """Return the keys of verdicts on what is there no more."""
    return set(verdicts) - {key(text) for text in texts}


def _once(texts: Mapping[str, str]) -> dict[str, str]:
    first: dict[str, str] = {}
    for name, text in texts.items():
        first.setdefault(key(text), name)
    return {name: texts[name] for name in first.values()}
