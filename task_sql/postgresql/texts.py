"""PostgreSQL: many values as the text that the server reads, which takes the driver far longer to write."""

from collections.abc import Iterator, Sequence
from types import NoneType
from typing import Final, cast

__all__ = ["array", "copied"]

_BLOCK: Final = 250
"""So many rows are written at a time: the server stores them while the next are prepared."""
_ESCAPES: Final = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
"""How a stream of rows has what would end a column or a row."""


def array(values: Sequence[object]) -> object:
    """Write numbers or texts as an array; leave others to the driver."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return f"{{{str(list(values))[1:-1]}}}"
    kinds.discard(NoneType)
    if kinds == {int}:
        return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"
    if kinds <= {str}:
        return "{" + ",".join(["NULL" if value is None else _quoted(cast("str", value)) for value in values]) + "}"
    return list(values)


def copied(topic: str, numbers: Sequence[int], columns: Sequence[Sequence[str | None]]) -> Iterator[bytes]:
    """Write rows as COPY reads them, in blocks: the topic, a number, and a value of each column."""
    name = "".join(_escaped([topic]))  # the text itself: a member of an enum would be formatted as something else
    for start in range(0, len(numbers), _BLOCK):
        end = start + _BLOCK
        rows = map("\t".join, zip(*(_escaped(column[start:end]) for column in columns), strict=True))
        lines = [f"{name}\t{number}\t{row}\n" for number, row in zip(numbers[start:end], rows, strict=True)]
        yield "".join(lines).encode()


def _quoted(text: str) -> str:
    if "\\" in text or '"' in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _escaped(values: Sequence[str | None]) -> Sequence[str]:
    """Escape texts, which few of them need, and give those that are missing a sign."""
    whole = "".join(filter(None, values))
    if any(character in whole for character in "\\\t\n\r"):
        values = [value and value.translate(_ESCAPES) for value in values]
    return [r"\N" if value is None else value for value in values] if None in values else cast("Sequence[str]", values)
