"""The life of a detached process, from taking its task over to deciding it."""

import os
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from task_api import (
    InvalidTaskError,
    LostTaskError,
    Task,
    TaskDecision,
    TaskError,
    TaskRepository,
    TaskResultError,
)

from ..dispatcher import TaskDispatcher
from ..event_loop import perform
from ..listener import LOGGER
from ..signature import wants_second
from .checkpoint import Checkpoint
from .claim import DetachedClaim, StopRequestedError, take_over
from .errand import ANSWER, Errand
from .exit import DetachedExit
from .folder import DetachedProcess
from .function import load_function
from .guard import Guard

__all__ = ["run_errand"]

T = TypeVar("T")


def run_errand(errand: Errand, repository: TaskRepository[T], dispatcher: TaskDispatcher[T]) -> DetachedExit:
    """
    Take the task over, say so, work on it, and decide it; return how the process is to end.

    Nothing is imported and nothing done before the task is the process's own.
    """
    sent = Task(errand.sequence, errand.identifier, token=errand.token)
    try:
        DetachedProcess.own(errand, repository.owner).write(errand.lock)
    except OSError:
        LOGGER.exception("the process can't describe itself")
        return DetachedExit.UNREACHABLE
    # Processes that the work leaves behind are none of those that are counted.
    kept = [errand.lock]
    os.register_at_fork(after_in_child=lambda: _close(kept))
    try:
        task = take_over(repository, dispatcher, errand.topic, sent, errand.lease_time)
    except TaskError as error:
        LOGGER.error("%s", error)
        return DetachedExit.UNREACHABLE
    except Exception:  # noqa: BLE001 - logged, and told by the exit code
        LOGGER.exception("the database can't be reached")
        return DetachedExit.UNREACHABLE
    if isinstance(task, DetachedExit):
        return task
    LOGGER.info("%s, attempt %s: %s begins as owner %s", task, task.attempt, errand.function, repository.owner)
    claim = DetachedClaim(repository, dispatcher, errand.topic, task, errand.lease_time)
    with Guard(
        claim,
        heartbeat=timedelta(seconds=errand.heartbeat),
        expiry=timedelta(seconds=errand.expiry),
        grace=timedelta(seconds=errand.grace),
    ) as guard:
        _answer(errand.answer)
        try:
            return _work(errand, claim, guard)
        except Exception:  # noqa: BLE001 - logged, and told by the exit code
            LOGGER.exception("%s could not be decided", task)
            return DetachedExit.UNDECIDED


def _work(errand: Errand, claim: DetachedClaim[T], guard: Guard[T]) -> DetachedExit:
    try:
        decision, code = _outcome(errand.function, claim)
    except StopRequestedError as error:
        if guard.code is DetachedExit.STOPPED:
            guard.give_back()
        if guard.code is not None:
            return guard.code
        # Nobody asked: raised by the work of its own accord.
        decision, code = TaskDecision.failure(error), DetachedExit.RAISED
    guard.worked()
    decision = _retried(errand, claim.task, decision)
    try:
        claim.insist(lambda tx: claim.complete(tx, decision))
    except LostTaskError:
        if claim.decided():
            return DetachedExit.DONE
        LOGGER.error("%s is held by others; what came of it is dropped", claim.task)
        return DetachedExit.UNDECIDED
    except StopRequestedError:
        LOGGER.error("%s: its decision could not be stored", claim.task)
        return DetachedExit.UNDECIDED
    LOGGER.info("%s is %s", claim.task, decision.state.name)
    return code


def _outcome(target: str, claim: DetachedClaim[T]) -> tuple[TaskDecision, DetachedExit]:
    """Call the function, and return what that decides and how the process ends then."""
    try:
        function = load_function(target)
    except InvalidTaskError as error:
        LOGGER.exception("the function can't be called")
        return TaskDecision.failure(error), DetachedExit.BAD_FUNCTION
    arguments = (claim.task, Checkpoint(claim)) if wants_second(function) else (claim.task,)
    try:
        outcome = perform(function, *arguments)
    except StopRequestedError:
        raise
    except TaskResultError as error:
        return TaskDecision.of(error), DetachedExit.DONE
    except BaseException as error:  # noqa: BLE001 - whatever work raises is its task's failure
        LOGGER.exception("%s raised", target)
        return TaskDecision.failure(error), DetachedExit.RAISED
    try:
        return TaskDecision.of(outcome), DetachedExit.DONE
    except InvalidTaskError as error:
        LOGGER.exception("%s gave no decision", target)
        return TaskDecision.failure(error), DetachedExit.UNDECIDED


def _retried(errand: Errand, task: Task, decision: TaskDecision) -> TaskDecision:
    try:
        policy = errand.policy
    except Exception:  # noqa: BLE001 - logged; without it a failure is final
        LOGGER.exception("the retry policy can't be read")
        return decision
    return decision if policy is None else policy.apply(task, decision)


def _answer(file: int) -> None:
    """Tell whoever started the process that it has the task."""
    try:
        os.write(file, ANSWER)
    except BrokenPipeError:
        LOGGER.info("whoever started this is gone, which changes nothing")
    os.close(file)


def _close(files: list[int]) -> None:
    """Close files, but once: afterwards their numbers may be those of others."""
    while files:
        with suppress(OSError):
            os.close(files.pop())
