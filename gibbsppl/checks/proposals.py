"""The transition matrix of proposals between labels.

Comes in: a step that proposes, with all states. Goes out: the probability of each move: that it is
proposed, as the proposal's own log density says, and that it is accepted by the ratio of the
conditional's generated log densities. What is proposed outside of the support is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gibbsppl.code.program import Constants, Program
from gibbsppl.errors import CompileError
from gibbsppl.model.density import free_elements
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import slices_of
from gibbsppl.schedule.densities import log_terms_of
from gibbsppl.schedule.kinds import Single
from gibbsppl.schedule.steps import Step

# An index of an array.
Index = Any


def proposal_matrix(
    program: Program,
    constants: Constants,
    step: Step,
    data: Values,
    states: Sequence[Values],
    graph: Graph,
) -> Floats:
    """The matrix of the moves of all elements in a sweep, or of each alone: their product."""
    assert isinstance(step, Single)
    assert step.asked is not None
    name = step.variables[0]
    at = _drawn(step, graph, {**data, **states[0]})
    arrays = [np.asarray(s[name])[at].astype(np.intp) for s in states]
    matrix = np.eye(len(states))
    alone: list[tuple[int, ...] | None] = [None]
    if step.asked.by_element:
        alone = list(np.ndindex(arrays[0].shape))
    for element in alone:
        one = np.zeros_like(matrix)
        for group in _groups(name, at, states, element):
            copy = {n: np.array(v) for n, v in states[group[0]].items()}
            given = program.given_rest[step.name](copy, constants)
            there = ({**data, **states[j]} for j in group)
            log_p = np.array([log_terms_of(step, given, v, graph.sizes).sum() for v in there])
            log_q = _log_proposed(step, [arrays[j] for j in group], element)
            one[np.ix_(group, group)] = _accepted(log_p, log_q)
        matrix = matrix @ one
    return np.asarray(np.linalg.matrix_power(matrix, step.asked.proposals))


def key_of(state: Values) -> bytes:
    """The content of a state."""
    parts = (np.asarray(state[name], dtype=np.float64) for name in sorted(state))
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def _drawn(step: Single, graph: Graph, values: Values) -> Index:
    """The index of the elements that the proposal gets, as generated code has it."""
    statement = step.statement
    if statement.known != 0:
        return np.nonzero(free_elements(statement, values, graph.sizes))
    return slices_of(step.region) if step.region else ...


def _groups(
    name: str, at: Index, states: Sequence[Values], element: tuple[int, ...] | None
) -> Iterator[list[int]]:
    """The numbers of states that differ in the proposed elements alone."""
    found: dict[bytes, list[int]] = {}
    for j, state in enumerate(states):
        array = np.array(state[name])
        part = np.array(array[at])
        part[... if element is None else element] = 0
        array[at] = part
        found.setdefault(key_of({**state, name: array}), []).append(j)
    yield from found.values()


def _log_proposed(
    step: Step, arrays: Sequence[np.ndarray], element: tuple[int, ...] | None
) -> Floats:
    """The log probability by which each array is proposed from each: [old, new]."""
    assert step.asked is not None
    with np.errstate(all="ignore"):
        found = np.array(
            [
                [
                    np.sum(np.asarray(step.asked.log_proposal(new[()], old[()]))[element or ...])
                    for new in arrays
                ]
                for old in arrays
            ]
        )
        total = np.exp(found).sum(axis=1).max()
    known = np.abs(found[np.isfinite(found)])
    rounded = np.finfo(float).eps * (len(arrays) + known.sum())
    if not total <= 1 + rounded:
        raise CompileError(
            f"{step.name}: the log density of {step.kernel} adds up to a probability of {total:g} "
            "from one state, expected at most 1: for a transition matrix it is the log of the "
            "probability itself, constants included."
        )
    return found


def _accepted(log_p: Floats, log_q: Floats) -> Floats:
    """The probabilities of all moves between states of some log densities."""
    with np.errstate(all="ignore"):
        ratio = log_p[None, :] - log_p[:, None] + log_q.T - log_q
        likely = np.where(np.isnan(ratio), -np.inf, np.minimum(ratio, 0.0))
        moves = np.where(np.isneginf(log_q), 0.0, np.exp(log_q + likely))
    np.fill_diagonal(moves, 0.0)
    np.fill_diagonal(moves, 1.0 - moves.sum(axis=1))
    return np.asarray(moves)
