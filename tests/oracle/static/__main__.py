"""Renews the verdicts: parses what has none, and forgets what is there no more."""

from __future__ import annotations

import sys
from typing import TextIO

from .collection import everything
from .node import NodeError
from .parser import parse
from .samples import RIGHT, WRONG
from .verdicts import ACCEPTED, key, load, save, stale, unknown


def main(out: TextIO = sys.stdout) -> int:
    """Return 0 if all statements are right."""
    right = {**everything(), **RIGHT}
    texts = {**right, **WRONG}
    verdicts = load()
    old = stale(texts.values(), verdicts)
    new = unknown(texts, verdicts)
    for forgotten in old:
        del verdicts[forgotten]
    try:
        for place, ((name, text), trouble) in enumerate(zip(new.items(), parse(list(new.values())), strict=True), 1):
            verdicts[key(text)] = trouble or ACCEPTED
            out.write(f"{place} of {len(new)}: {name}: {trouble or ACCEPTED}\n")
            out.flush()
    except NodeError as error:
        out.write(f"{error}\n")
        return 2
    finally:
        save(verdicts)
    rejected = [name for name, text in right.items() if verdicts[key(text)] != ACCEPTED]
    out.write(f"{len(new)} parsed, {len(old)} forgotten, {len(rejected)} rejected\n")
    for name in rejected:
        out.write(f"{name}: {verdicts[key(right[name])]}\n")
    return 1 if rejected else 0


if __name__ == "__main__":
    sys.exit(main())
