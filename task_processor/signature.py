"""How many arguments a function wants, so that the simple form stays simple."""

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["wants_second"]


def wants_second(function: Callable[..., Any]) -> bool:
    """Tell whether a function has a second parameter that must be given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not say
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [item for item in parameters if item.kind in positional and item.default is inspect.Parameter.empty]
    return len(needed) > 1
