"""The page of the documentation that shows a report."""

from pathlib import Path
from typing import Final

__all__ = ["insert"]

_BEGIN: Final = "<!-- figures -->\n"
_END: Final = "<!-- end of figures -->\n"


def insert(page: Path, text: str) -> None:
    """Put a report in place of the one that the page has between its two marks."""
    content = page.read_text(encoding="utf-8")
    before, begin, rest = content.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        message = f"{page} has no marks {_BEGIN.strip()} and {_END.strip()}, each on a line of its own"
        raise SystemExit(message)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
