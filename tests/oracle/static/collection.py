"""Every statement that the repository, the schema and the notifier can send to Oracle."""

from __future__ import annotations

from itertools import product

from task_sql import schema
from task_sql.notifier import oracle as notifier
from task_sql.schema.scripts import removal, statements
from tests.oracle.static.tokens import tokens
from tests.sql import collect


def everything() -> dict[str, str]:
    """Return all statements by name."""
    return {**repository(), **notifications(), **definitions()}


def repository() -> dict[str, str]:
    """Return what the repository executes, in all variants."""
    return {
        f"{name} {variant}".strip(): text
        for name, variants in collect.statements("oracle").items()
        for variant, text in variants.items()
    }


def notifications() -> dict[str, str]:
    """Return what the notifier executes or subscribes to."""
    constants = {name: getattr(notifier, name) for name in notifier.__all__}
    return {f"notifier.{name.lower()}": text for name, text in constants.items() if isinstance(text, str)}


def scripts() -> dict[str, str]:
    """Return the scripts that install the schema, in all ways, that upgrade it, that grant it, and that remove it."""
    ways = product((False, True), (False, True), (False, True), range(schema.VERSION))
    found = {
        f"install {partitioned=} {pretty=} {notify=} {since=}": schema.render(
            "oracle", partitioned=partitioned, pretty=pretty, notify=notify, since=since
        )
        for partitioned, pretty, notify, since in ways
    }
    return {**found, "roles": schema.render_roles("oracle"), "uninstall": removal("oracle")}


def definitions() -> dict[str, str]:
    """Return the statements of the scripts, each once."""
    found: dict[str, str] = {}
    for script in scripts().values():
        for text in statements(script):
            if text not in found.values():
                found[_title(text, found)] = text
    return found


def _title(text: str, taken: dict[str, str]) -> str:
    words = [token.text for token in tokens(text)]
    stop = words.index("(") if "(" in words else len(words)
    title = "schema " + " ".join(words[: min(stop, 5)])
    same = sum(name == title or name.startswith(f"{title} #") for name in taken)
    return f"{title} #{same + 1}" if same else title
