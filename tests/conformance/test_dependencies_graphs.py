"""Chains, groups and chords, pushed in one call (S1-22 of BEHAVIOURS.md)."""

from typing import Any

import pytest

from task_api import (
    InvalidTaskError,
    OnAbort,
    TaskCreation,
    TaskDecision,
    TaskGraph,
    TaskState,
    UnknownTopicError,
    chain,
    chord,
    group,
)
from tests.backends import Backend
from tests.backends.steps import complete, poll, push
from tests.conformance.scenes import Repository, run
from tests.conformance.waiters import decide, others_topic, ref, state_of, work_off

READY, SUSPENDED, FAILED = TaskState.READY, TaskState.SUSPENDED, TaskState.FAILED
few = pytest.mark.kinds("driver", "plain")


def links(graph: TaskGraph) -> set[tuple[str, str]]:
    """Which identifier waits for which."""
    names = [creation.identifier for creation in graph.creations]
    return {(names[run], names[after]) for run, after in graph.links}


def test_a_chain_is_worked_off_in_turn(backend: Backend, repository: Repository, topic: str) -> None:
    """Each begins when the one before is done; tasks are returned in the order given (S1-22)."""
    tasks = run(backend, repository.push_graph, topic, chain("a", TaskCreation("b", "input"), "c"))
    assert [(task.identifier, task.input) for task in tasks] == [("a", None), ("b", "input"), ("c", None)]
    assert state_of(backend, repository, topic, *tasks) == [READY, SUSPENDED, SUSPENDED]
    rounds = []
    while polled := poll(backend, repository, topic, 9):
        rounds.append([task.identifier for task in polled])
        complete(backend, repository, topic, polled)
    assert rounds == [["a"], ["b"], ["c"]]


def test_a_chord_ends_when_all_of_its_group_are_done(backend: Backend, repository: Repository, topic: str) -> None:
    """The group runs at once, the last one after all of it (S1-22)."""
    *copies, marker = run(backend, repository.push_graph, topic, chord(group(*"abc"), "marker"))
    assert poll(backend, repository, topic, 9) == copies
    for task, state in zip(copies, (SUSPENDED, SUSPENDED, READY), strict=True):
        run(backend, repository.complete, topic, type(task)(task.sequence, task.identifier, token=1))
        assert state_of(backend, repository, topic, marker) == [state]


@few
def test_graphs_are_made_of_graphs(backend: Backend, repository: Repository, topic: str) -> None:
    """A chain of groups waits group by group; nested ones keep their own order (S1-22)."""
    graph = chain("begin", group(chain("a1", "a2"), "b"), chord(["c", "d"], "e"), "end")
    tasks = run(backend, repository.push_graph, topic, graph)
    assert [task.identifier for task in tasks] == ["begin", "a1", "a2", "b", "c", "d", "e", "end"]
    rounds = []
    while polled := poll(backend, repository, topic, 9):
        rounds.append({task.identifier for task in polled})
        complete(backend, repository, topic, polled)
    assert rounds == [{"begin"}, {"a1", "b"}, {"a2"}, {"c", "d"}, {"e"}, {"end"}]


@few
def test_a_graph_waits_for_tasks_outside(backend: Backend, repository: Repository, topic: str) -> None:
    """Creations of a graph name what else they wait for, and what happens on a failure (S1-22, S1-15)."""
    other = others_topic(backend, repository)
    [far] = push(backend, repository, other, "far")
    first = TaskCreation("first", after=(ref(far, other),), on_abort=OnAbort.RUN)
    tasks = run(backend, repository.push_graph, topic, chain(first, TaskCreation("last", after=(ref(far, other),))))
    assert state_of(backend, repository, topic, *tasks) == [SUSPENDED] * 2
    with backend.begin() as tx:
        assert repository.predecessors(tx, ref(tasks[1])) == [ref(far, other), ref(tasks[0])]
    decide(backend, repository, other, far, decision=TaskDecision.FAILURE)
    assert state_of(backend, repository, topic, *tasks) == [READY, FAILED]


@few
def test_suspended_and_due_tasks_of_a_graph(backend: Backend, repository: Repository, topic: str) -> None:
    """They wait for their junction beside (S1-22)."""
    graph = chain("first", TaskCreation("last", suspended=True))
    first, last = run(backend, repository.push_graph, topic, graph)
    decide(backend, repository, topic, first)
    assert state_of(backend, repository, topic, last) == [SUSPENDED]
    assert run(backend, repository.junction, topic, [{"last"}]) == {"last"}
    assert state_of(backend, repository, topic, last) == [READY]


@few
def test_small_graphs(backend: Backend, repository: Repository, topic: str) -> None:
    """One item is a graph, and nothing is one too (S1-22)."""
    for item in ("a", TaskCreation("a"), chain("a"), group("a"), chord([], "a"), chain(group(), "a", chain())):
        [task] = run(backend, repository.push_graph, topic, item)
        assert state_of(backend, repository, topic, task) == [READY]
    for nothing in (chain(), group(), chain(group(), chain())):
        assert run(backend, repository.push_graph, topic, nothing) == []


@few
def test_an_unknown_topic_is_refused(backend: Backend, repository: Repository) -> None:
    """The transaction stays usable (P7)."""
    with backend.begin() as tx:
        with pytest.raises(UnknownTopicError):
            repository.push_graph(tx, "nowhere", chain("a", "b"))
        assert repository.topics(tx) == set()


@few
def test_a_rolled_back_graph_leaves_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """All of it or nothing (S1-02)."""
    [other] = push(backend, repository, topic, "other")
    tx = backend.open()
    repository.push_graph(tx, topic, chain(TaskCreation("a", after=(other,)), "b"))
    backend.close(tx)
    with backend.begin() as tx:
        assert repository.page(tx, topic) == [other]
        assert repository.dependents(tx, ref(other)) == []


@pytest.mark.kinds("driver")
@pytest.mark.backends("sqlite", "postgresql")
def test_a_large_graph_is_pushed_and_worked_off(backend: Backend, repository: Repository, topic: str) -> None:
    """Ten thousand tasks in chains, groups and chords, in batches (S1-14, S1-22)."""
    parts = [chord([chain(f"{part}-{n}-a", f"{part}-{n}-b") for n in range(49)], f"{part}-end") for part in range(100)]
    graph = chain("begin", group(*parts), "end")
    tasks = run(backend, repository.push_graph, topic, graph)
    assert len(tasks) == 100 * 99 + 2
    done = work_off(backend, repository, topic, 1_000)
    places = {task.identifier: place for place, task in enumerate(done)}
    assert len(places) == len(done) == len(tasks)
    assert all(places[after] < places[run] for run, after in links(graph))


@pytest.mark.kinds("driver")
@pytest.mark.backends("sqlite", "postgresql")
def test_a_long_chain_fails_as_a_whole(backend: Backend, repository: Repository, topic: str) -> None:
    """However far the failure has to go (S1-15)."""
    first, *rest = run(backend, repository.push_graph, topic, chain(*map(str, range(1_000))))
    decide(backend, repository, topic, first, decision=TaskDecision.FAILURE)
    assert state_of(backend, repository, topic, *rest) == [FAILED] * 999


def test_what_graphs_are_made_of() -> None:
    """The links of each form, and who begins and ends it (S1-22)."""
    assert links(chain(*"abc")) == {("b", "a"), ("c", "b")}
    assert links(group(*"abc")) == set()
    assert links(chord(["a", "b"], "c")) == links(chord(iter("ab"), "c")) == {("c", "a"), ("c", "b")}
    assert links(chain(group("a", "b"), group("c", "d"))) == {("c", "a"), ("d", "a"), ("c", "b"), ("d", "b")}
    assert links(chain("a", group(), "b")) == {("b", "a")}
    graph = chain(group("a", "b"), "c", group("d", "e"))
    assert (graph.first, graph.last) == ((0, 1), (3, 4))
    assert all(after < run for run, after in graph.links)


@pytest.mark.parametrize("wrong", [None, 7, b"a", ["a"], ("a", "b"), 7.5])
def test_what_graphs_are_not_made_of(wrong: Any) -> None:  # noqa: ANN401 - anything
    """Other things are refused at once."""
    for build in (chain, group, lambda item: chord(["a", item], "b"), lambda item: chord(["a"], item)):
        with pytest.raises(InvalidTaskError, match="made of identifiers, creations and graphs"):
            build(wrong)


@pytest.mark.parametrize("wrong", [None, 7, "ab", TaskCreation("ab")])
def test_what_a_chord_does_not_begin_with(wrong: Any) -> None:  # noqa: ANN401 - anything
    """One identifier is no group; a text is not taken for its letters."""
    with pytest.raises(InvalidTaskError, match="begins with a group"):
        chord(wrong, "last")


@few
@pytest.mark.parametrize("wrong", [None, 7, ["a"], {"a": "b"}])
def test_what_is_no_graph(backend: Backend, repository: Repository, topic: str, wrong: Any) -> None:  # noqa: ANN401
    """It is refused before anything is sent."""
    with backend.begin() as tx:
        with pytest.raises(InvalidTaskError, match="graph"):
            repository.push_graph(tx, topic, wrong)
        assert repository.page(tx, topic) == []
