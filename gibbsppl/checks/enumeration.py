"""Small discrete models: the sweep's exact transition matrix leaves the exact posterior invariant.

Comes in: a model all of whose latent variables are labels, and its finite steps. Goes out: the
posterior of every state, and the matrix of the sweep, made of the generated log weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import sympy as sp

from gibbsppl.checks.elements_by_call import calls_of, of_statement
from gibbsppl.checks.proposals import key_of, proposal_matrix
from gibbsppl.checks.transition import TransitionMatrix
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.errors import CompileError
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import free_elements, log_joint, regions
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.operations import Bools
from gibbsppl.schedule.composed import Turn
from gibbsppl.schedule.densities import log_terms_of
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

LARGEST = 4096


def transition_matrix(
    graph: Graph, program: Program, schedule: Schedule, data: Values
) -> TransitionMatrix:
    """The exact transition matrix of a sampler's sweep; refused by name where there is none."""
    for statement in graph.latent:
        _check_label(statement)
    made = [*schedule.auxiliary, *dict.fromkeys(p.of for p in schedule.parts)]
    if made:
        raise CompileError(
            f"{graph.name}: its sweep draws auxiliary variables or parts of arrays "
            f"({', '.join(made)}), of which there are no states; compile with rewrites=False."
        )
    start, _ = initial_state(np.random.default_rng(0), graph, data)
    return enumerate_sweep(graph, program, schedule.steps, data, start, schedule)


def enumerate_sweep(
    graph: Graph,
    program: Program,
    steps: Sequence[Step],
    data: Values,
    start: Values,
    schedule: Schedule | None = None,
) -> TransitionMatrix:
    """The posterior and one sweep's transition matrix, over all states of the labels.

    ``start`` is any state: what it holds besides the labels (known elements) is kept. ``schedule``
    says how the steps, its own, follow one another (default: in order). The posterior is that of
    all latent variables: a schedule that integrates some out has no matrix here.
    """
    states = tuple(_states(graph, {**data, **start}, start))
    log_density = np.array([log_joint(graph, {**data, **s}) for s in states])
    posterior = np.exp(log_density - log_density.max())
    posterior /= posterior.sum()
    constants = program.prepare(data)
    matrices = [
        _step_matrix(graph, program, constants, _of_labels(step), data, states) for step in steps
    ]
    transition = sweep_matrix(matrices, schedule)
    discrepancy = float(np.abs(posterior @ transition - posterior).max())
    # Each entry is a sum of as many products as there are states, for each of the steps.
    tolerance = 16 * np.finfo(float).eps * len(states) * (1 + len(steps))
    return TransitionMatrix(
        states, posterior, transition, discrepancy, tolerance, graph.name
    )


def sweep_matrix(steps: Sequence[Floats], schedule: Schedule | None = None) -> Floats:
    """The matrix of a sweep from those of its steps."""
    if schedule is None:
        return _product(steps)
    of = dict(zip((s.name for s in schedule.steps), steps, strict=True))

    def in_order(places: Iterable[int]) -> Floats:
        turns = (composed_matrix(turn, of) for turn in schedule.turns(places))
        return _product([np.eye(len(steps[0])), *turns])

    if not schedule.units:
        return in_order(range(len(steps)))
    units = [in_order(unit) for unit in schedule.units]
    if schedule.scan == "symmetric":
        return _product([*units, *units[-2::-1]])
    shares = np.array(schedule.weights or [1.0] * len(units))
    one = np.tensordot(shares / shares.sum(), np.array(units), axes=1)
    return np.asarray(np.linalg.matrix_power(one, len(units)))


def composed_matrix(turn: Turn, of: Mapping[str, Floats]) -> Floats:
    """The matrix of one turn of a sweep, from those of the steps: a product, or their mean."""
    if isinstance(turn, str):
        return of[turn]
    parts = [composed_matrix(p, of) for p in turn.parts]
    return np.tensordot(turn.shares, parts, axes=1) if turn.weights else _product(parts)


def _product(matrices: Sequence[Floats]) -> Floats:
    found = np.eye(len(matrices[0]))
    for matrix in matrices:
        found = found @ matrix
    return found


def _of_labels(step: Step) -> Step:
    if step.has_probabilities:
        return step
    how = f"it is moved by {step.kernel}" if step.is_move else f"its step is of kind {step.kind!r}"
    raise CompileError(
        f"{step.name}: {how}, expected an exact draw of finitely many labels, or gp.RandomWalk(), "
        "gp.Swap() or gp.Proposal(draw, log_density) of them: only these have a transition matrix."
    )


def _states(graph: Graph, values: Values, start: Values) -> Iterator[State]:
    """Every combination of labels."""
    places = [place for s in graph.latent for place in _places(graph, s, values)]
    count = int(np.prod([float(len(labels)) for *_, labels in places]))
    if count > LARGEST:
        raise CompileError(
            f"{graph.name}: {count} states, expected at most {LARGEST}: enumerate a smaller model."
        )
    for labels in product(*(labels for *_, labels in places)):
        state = {name: np.array(value) for name, value in start.items()}
        for (name, index, _), label in zip(places, labels, strict=True):
            state[name][index] = label
        yield state


def _check_label(statement: Statement) -> None:
    if not statement.support.is_finite:
        raise CompileError(
            f"{statement.name}: its support is {statement.support}, expected finitely many labels; "
            "only models of labels can be enumerated."
        )


Place = tuple[str, tuple[int, ...], range]


def _places(graph: Graph, statement: Statement, values: Values) -> list[Place]:
    """Each element to be drawn: array, position and possible labels."""
    _check_label(statement)
    sizes, over = graph.sizes, regions(statement, graph.sizes)
    free = free_elements(statement, values, sizes)
    lower, upper = (
        np.broadcast_to(evaluate(sp.sympify(b), over, values, sizes), free.shape)
        for b in (statement.support.lower, statement.support.upper)
    )
    positions = _positions(graph, statement, values)
    return [
        (
            statement.target.array.name,
            tuple(int(p[where]) for p in positions),
            range(int(lower[where]), int(upper[where]) + 1),
        )
        for where in map(tuple, np.argwhere(free))
    ]


def _positions(graph: Graph, statement: Statement, values: Values) -> list[Floats]:
    over = regions(statement, graph.sizes)
    shape = tuple(map(len, over))
    return [
        np.broadcast_to(evaluate(i, over, values, graph.sizes), shape)
        for i in statement.target.indices
    ]


def _step_matrix(
    graph: Graph,
    program: Program,
    constants: Constants,
    step: Step,
    data: Values,
    states: Sequence[Values],
) -> Floats:
    """The transition matrix of one step; drawn in several calls, the product over these."""
    if step.axis is not None:  # (labels of a chain are drawn together)
        return _chain_matrix(program, constants, step, data, states, graph.sizes)
    if step.asked is not None and step.asked.takes_all:
        return proposal_matrix(program, constants, step, data, states, graph)
    statement = step.statement
    free = free_elements(statement, {**data, **states[0]}, graph.sizes)
    lower, upper = _range(graph, statement, {**data, **states[0]})
    labels = range(lower, upper + 1)
    found = []
    for state in states:
        copy = {name: np.array(value) for name, value in state.items()}
        given = program.given_rest[step.name](copy, constants)
        found.append(step.label_probabilities(graph, given, {**data, **state}, labels))
    if not step.is_by_element:
        return _moves(graph, statement, data, states, found, lower, free)
    matrix = np.eye(len(states))
    calls = calls_of(step, program, constants, states[0])
    for only in [of_statement(c, statement, graph.sizes) for c in calls] or _each(free):
        matrix = matrix @ _moves(graph, statement, data, states, found, lower, only)
    return matrix


def _each(free: Bools) -> Iterator[Bools]:
    """Each free element by itself."""
    for where in map(tuple, np.argwhere(free)):
        only = np.zeros(free.shape, dtype=bool)
        only[where] = True
        yield only
def _chain_matrix(
    program: Program,
    constants: Constants,
    step: Step,
    data: Values,
    states: Sequence[Values],
    sizes: Sizes,
) -> Floats:
    """The transition matrix of a draw of all labels of a chain together.

    From each state to those that differ in these labels alone, in proportion to what the step's
    generated function says of them.
    """
    groups: dict[bytes, list[int]] = {}
    for j, state in enumerate(states):
        rest = {n: v for n, v in state.items() if n != step.name}
        groups.setdefault(key_of(rest), []).append(j)
    matrix = np.zeros((len(states), len(states)))
    for group in groups.values():
        rows: dict[bytes, Floats] = {}  # (what is given does not depend on the labels, or is wrong)
        for i in group:
            copy = {name: np.array(value) for name, value in states[i].items()}
            given = program.given_rest[step.name](copy, constants)
            key = b"".join(np.asarray(g).tobytes() for g in given)
            if key not in rows:
                there = ({**data, **states[j]} for j in group)
                log_q = np.array([log_terms_of(step, given, v, sizes).sum() for v in there])
                odds = np.exp(log_q - max(log_q.max(), np.finfo(float).min))
                rows[key] = odds / (odds.sum() or 1.0)
            matrix[i, group] = rows[key]
    return matrix


def _range(graph: Graph, statement: Statement, values: Values) -> tuple[int, int]:
    """The smallest and the largest label of any element."""
    labels = [place[2] for place in _places(graph, statement, values)]
    return min(r.start for r in labels), max(r.stop for r in labels) - 1


def _moves(
    graph: Graph,
    statement: Statement,
    data: Values,
    states: Sequence[Values],
    probabilities: Sequence[Floats],
    lower: int,
    free: Bools,
) -> Floats:
    """From each state to each: the product of the label probabilities of the elements drawn."""
    over = regions(statement, graph.sizes)
    labels, rest = [], list[bytes]()
    for state in states:
        values = {**data, **state}
        x = np.broadcast_to(evaluate(statement.target, over, values, graph.sizes), free.shape)
        labels.append(x[free].astype(np.intp) - lower)
        copy = {name: np.array(value) for name, value in state.items()}
        fill(statement, np.where(free, lower, x), {**data, **copy} | copy, graph.sizes)
        rest.append(key_of(copy))
    groups: dict[bytes, list[int]] = {}
    for j, key in enumerate(rest):
        groups.setdefault(key, []).append(j)
    matrix = np.zeros((len(states), len(states)))
    for i, p in enumerate(probabilities):
        group = groups[rest[i]]
        own = p[:, free]
        there = np.array([labels[j] for j in group])
        matrix[i, group] = own[there, np.arange(own.shape[1])].prod(axis=1)
    return matrix
