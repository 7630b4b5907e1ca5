"""Values that nobody should pass, beside good ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Values = st.SearchStrategy[Any]

MARK = "qzmarkqz"
"""In every text that could be taken for SQL, so that it can be found in a statement."""
NUMBER = 7_214_936_580_127
"""A number for the same purpose."""
YEAR = 2793
"""A year for the same purpose."""


@dataclass(frozen=True)
class Made:
    """A value that is made when the call is made, since making it may be refused."""

    kind: Callable[..., Any]
    args: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def __repr__(self) -> str:
        given = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.options)]
        return f"{getattr(self.kind, '__qualname__', self.kind)}({', '.join(given)})"


def made(value: Any) -> Any:  # noqa: ANN401 - of any type
    """The value, with all that has to be made."""
    if isinstance(value, Made):
        return value.kind(*map(made, value.args), **{name: made(each) for name, each in value.options})
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(map(made, value))
    if type(value) is dict:
        return {made(key): made(each) for key, each in value.items()}
    return value


def making(kind: Callable[..., Any], *args: Values, **options: Values) -> Values:
    """Values to be made of others."""
    return st.builds(
        lambda drawn, named: Made(kind, drawn, tuple(named.items())),
        st.tuples(*args),
        st.fixed_dictionaries({}, optional=options),
    )


class Text(str):
    """A str of another class, as some libraries give."""

    __slots__ = ()


class Number(int):
    """An int of another class."""


class Odd(Enum):
    """An enum of nobody's."""

    ONE = 1


class OddNumber(IntEnum):
    """A number of nobody's."""

    ONE = 1


INJECTIONS = [
    f"{MARK}'; DROP TABLE task; --",
    f'{MARK}"; DELETE FROM task; --',  # noqa: S608 - bad on purpose
    f"{MARK}') OR ('1'='1",
    f"' || (SELECT owner FROM task_owner LIMIT 1) || '{MARK}",  # noqa: S608 - bad on purpose
    f"{MARK}%s %(topic)s %% %(owner)s",
    f"{MARK}:topic ::text :1 ?1 ? $1",
    f"{MARK}\\'; SELECT pg_sleep(9); --",
    f"{MARK}{{0}} {{topic}} {{",
    f"{MARK}/* */ -- \n;\r\n\t",
    f"$$ {MARK} $$",
    f"E'\\x27{MARK}",
    f'{{"{MARK}", NULL, "a,b"}}',
    f"\\N\t{MARK}\n\\.\n",
    f"${{jndi:ldap://{MARK}}} <script>{MARK}</script>",
    f"../../{MARK}",
    f"{MARK}\N{FULLWIDTH APOSTROPHE}\N{MODIFIER LETTER APOSTROPHE}; --",
]
ENCODINGS = [
    "\ud800",
    "a\udfffb",
    "\ud83d\ude00",
    "\0",
    "a\0b",
    "\N{GRINNING FACE}" * 250,
    "\U0010ffff",
    "\ufffe\uffff",
    "\N{RIGHT-TO-LEFT OVERRIDE}abc",
    "e\N{COMBINING ACUTE ACCENT}",
    "\N{LATIN SMALL LETTER E WITH ACUTE}",
    "\N{ZERO WIDTH SPACE}",
    "\N{LINE SEPARATOR}",
    "\x1b[31m",
    "\x7f\x80\x85",
    "\r\n",
]
SIZES = [0, 1, 249, 250, 251, 500, 501, 100_000]

texts: Values = st.one_of(
    st.sampled_from(INJECTIONS),
    st.sampled_from(ENCODINGS),
    st.builds(str.__mul__, st.sampled_from(["x", " ", "\N{GRINNING FACE}"]), st.sampled_from(SIZES)),
    st.sampled_from(
        [Text("text"), Text(f"{MARK}'"), "NULL", "None", "nan", "true", "public", "pg_catalog", "task", "1"]
    ),
    st.text(st.characters(codec=None, exclude_categories=()), max_size=12).map(lambda text: text + MARK),
)
numbers: Values = st.one_of(
    st.sampled_from(
        [0, -1, 1, 2, -2, 2**15, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400]
    ),
    st.sampled_from([NUMBER, -NUMBER, Number(3), OddNumber.ONE, True, False]),
)
others: Values = st.sampled_from(
    [
        None,
        1.5,
        0.0,
        -0.0,
        float("nan"),
        float("inf"),
        float("-inf"),
        1e308,
        1j,
        Decimal(1),
        Decimal("NaN"),
        Fraction(1, 3),
        b"bytes",
        b"\xff\0",
        bytearray(b"x"),
        memoryview(b"x"),
        (),
        frozenset(),
        range(3),
        object(),
        object,
        len,
        ...,
        Odd.ONE,
        UUID(int=7),
        ValueError("x"),
    ]
)
collections: Values = st.builds(
    lambda make: make(),
    st.sampled_from([list, dict, set, lambda: [None], lambda: [[]], lambda: {"a": "b"}, lambda: iter(())]),
)
zones: Values = st.sampled_from(
    [None, UTC, timezone(timedelta(hours=23, minutes=59)), timezone(-timedelta(hours=23, minutes=59)), timezone.min]
)
moments: Values = st.one_of(
    st.builds(
        datetime,
        st.sampled_from([1, 2, 1582, 1970, 2026, YEAR, 9998, 9999]),
        st.sampled_from([1, 12]),
        st.sampled_from([1, 31]),
        st.sampled_from([0, 23]),
        st.sampled_from([0, 59]),
        st.sampled_from([0, 59]),
        st.sampled_from([0, 999_999]),
        tzinfo=zones,
        fold=st.sampled_from([0, 1]),
    ),
    st.sampled_from([date.min, date.max, date(YEAR, 1, 1)]),
)
spans: Values = st.sampled_from(
    [
        timedelta(),
        timedelta(microseconds=1),
        timedelta(microseconds=-1),
        timedelta(seconds=1),
        timedelta(hours=-1),
        timedelta(days=365_000),
        timedelta(days=365_001),
        timedelta(days=-365_001),
        timedelta.max,
        timedelta.min,
    ]
)
anything: Values = st.one_of(texts, numbers, others, collections, moments, spans)


def of(kind: type[Enum]) -> Values:
    """Members of an enum, and what looks like one."""
    members = list(kind)
    return st.sampled_from(members) | st.sampled_from([*(m.name for m in members), *(m.value for m in members)])


def items(*strategies: Values, most: int = 3) -> Values:
    """Collections of values, of several types."""
    kinds: list[Callable[[list[Any]], Any]] = [list, tuple, lambda values: Made(iter, (values,))]
    return st.builds(
        lambda make, values: make(values), st.sampled_from(kinds), st.lists(st.one_of(*strategies), max_size=most)
    )


def mappings(keys: Values, values: Values) -> Values:
    """Mappings that are made when the call is made."""
    pairs = st.lists(st.tuples(keys, values), max_size=3)
    return pairs.map(lambda drawn: Made(_mapping, (drawn,)))


def _mapping(pairs: list[tuple[Any, Any]]) -> Mapping[Any, Any]:
    return dict(pairs)
