"""
List the specified behaviours that nothing answers.

``tests/behaviours.txt`` holds one identifier a line. A behaviour is answered by a test whose docstring names
it, as in ``(PO-03, PO-04)``, or by a row of a table in ``docs``. Ranges do not count: what is not spelled out
cannot be searched for.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IDENTIFIER = re.compile(r"\b[A-Z][A-Z0-9]-B?\d+\b")
ROW = re.compile(r"^\|\s*([^|]+?)\s*\|[^|]*\S[^|]*\|\s*$")


def specified(root: Path) -> list[str]:
    """The identifiers to be answered, in the order of the specification."""
    lines = (root / "tests" / "behaviours.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip()]


def tested(root: Path) -> set[str]:
    """The identifiers that the docstring of some test names."""
    found: set[str] = set()
    for path in sorted((root / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found.update(IDENTIFIER.findall(ast.get_docstring(node) or ""))
    return found


def documented(root: Path) -> set[str]:
    """The identifiers whose row in the documentation says how they are answered."""
    lines = [
        line for path in sorted((root / "docs").glob("*.md")) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    rows = [match.group(1) for line in lines if (match := ROW.match(line))]
    return {identifier for row in rows for identifier in IDENTIFIER.findall(row)}


def missing(root: Path = ROOT) -> list[str]:
    """The identifiers that neither a test nor the documentation answers."""
    answered = tested(root) | documented(root)
    return [identifier for identifier in specified(root) if identifier not in answered]


def unknown(root: Path = ROOT) -> list[str]:
    """The documented identifiers that are not specified, most likely misspelt."""
    return sorted(documented(root) - set(specified(root)))


def main() -> int:
    """Print what is missing; the exit status is 1 when something is."""
    unanswered = missing()
    for identifier in unanswered:
        print(identifier)
    total = len(specified(ROOT))
    print(f"{total - len(unanswered)} of {total} behaviours are answered", file=sys.stderr)
    return 1 if unanswered else 0


if __name__ == "__main__":
    sys.exit(main())
