"""What comes back from work in other processes."""

import multiprocessing
import pickle
import traceback
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from task_api import TaskDecision

__all__ = ["RemoteError", "portable", "portable_outcome"]


class RemoteError(Exception):
    """Stands for an error of work in another process that can be read in that process alone; it holds its trace."""


def portable(error: BaseException) -> BaseException:
    """Return the error, or one that stands for it if it could not be read where it is sent."""
    # A pool that receives what it can't read is broken for ever.
    if multiprocessing.parent_process() is None:
        return error
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - what was written a moment ago
    except Exception:  # noqa: BLE001 - whatever its class does when it is read
        return RemoteError("".join(traceback.format_exception(error)).rstrip("\n"))
    return error


def portable_outcome(outcome: Any) -> Any:  # noqa: ANN401 - whatever work gives
    """Return what work gave, with errors in its decisions that can be read where it is sent."""
    if isinstance(outcome, TaskDecision) and outcome.exception is not None:
        return replace(outcome, exception=portable(outcome.exception))
    if isinstance(outcome, Mapping) and any(isinstance(item, TaskDecision) for item in outcome.values()):
        return {task: portable_outcome(item) for task, item in outcome.items()}
    return portable(outcome) if isinstance(outcome, BaseException) else outcome
