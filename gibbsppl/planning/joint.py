"""The choice of variables that are drawn jointly.

Comes in: the conditionals that one graph gives its variables. Variables that are quadratic together
and tied to one another are joined, the largest first, as long as the layout of their precision
matrix stays affordable. Goes out: a `JointDraw` for each block.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Any

from gibbsppl.algebra.expressions import dims_of
from gibbsppl.derive.conditionals import Derived, conditional_of
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.quadratic import Quadratic, are_tied, is_quadratic, quadratic_of
from gibbsppl.errors import CompileError
from gibbsppl.kernels.joint import JointDraw, joint_draw
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning.weak_ties import weak_ties
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.blocks import MATRIX, ROWS, Blocks
from gibbsppl.schedule.precisions import (
    LEAST_DIAGONALISED,
    TooLarge,
    beyond,
    has_few_rows,
    is_fixed,
)


def joined(
    graph: Graph,
    derived: Sequence[Derived | Scan | ChainConditional],
    data: Mapping[str, Any],
    asked: Blocks,
    apart: Collection[frozenset[str]] = (),
) -> tuple[list[Derived | Scan | ChainConditional | JointDraw], tuple[TooLarge, ...]]:
    """The conditionals, with a joint draw in place of those of each block of variables.

    And the blocks that would be too large, with the limits that stand against them.

    Blocks of ``apart`` are left out unless they are asked for: each is a location and its group,
    which are free of one another by an interwoven update, at a lower cost. So are `weak_ties`.
    """
    if not asked.joined or graph.marginals:
        return list(derived), ()
    able = [
        d
        for d in derived
        if isinstance(d, Conditional) and is_quadratic(d) and _name(d) not in asked.elements
    ]
    steps: list[JointDraw] = []
    large: list[TooLarge] = []
    weak = weak_ties(graph)
    waiting = sorted(able, key=lambda d: -count_of(graph, d.statement))
    while waiting:
        first = waiting.pop(0)
        near = [d for d in waiting if not _is_weak({_name(first), _name(d)}, weak, asked)]
        block, beyond = _grown(graph, first, near, data, asked)
        large += beyond
        if block is not None and _is_apart(block, able, asked, apart):
            continue
        if block is not None:
            steps.append(block)
            waiting = [d for d in waiting if d.statement not in block.statements]
    gone = {s.name for step in steps for s in step.statements}
    _check_together(asked, steps, {_name(d) for d in derived})
    left = (d for d in derived if d.statement.name not in gone)
    every: list[Derived | Scan | ChainConditional | JointDraw] = [*steps]
    for d in left:
        told = None if _name(d) in asked.alone else _beyond_memory(graph, d)
        found = _by_element(graph, d, data) if told or _needs_a_block(d) else d
        every.append(found)
        large += [TooLarge((_name(d),), told)] if told and found is not d else []
    _check_layouts(asked, steps, {_name(d) for d in derived}, large)
    return every, tuple({b.arrays: b for b in large}.values())


def _is_apart(
    block: JointDraw,
    able: Sequence[Derived],
    asked: Blocks,
    apart: Collection[frozenset[str]],
) -> bool:
    """Whether a block is of those that are left apart, and of single elements each."""
    names = frozenset(block.variables)
    if names not in apart or any(names <= group for group in asked.together):
        return False
    return not any(_needs_a_block(d) for d in able if _name(d) in names)


def _beyond_memory(graph: Graph, derived: Derived | Scan | ChainConditional) -> str | None:
    """The limit of memory that the draw of one vector exceeds, in words; None if within it.

    Coefficients of products of its elements are a matrix, which is filled and factorised.
    """
    if not isinstance(derived, Conditional) or len(derived.event) != 1:
        return None
    others = dims_of(derived.place) - set(derived.event)
    order = prod(graph.sizes[d] for d in derived.own_event)
    most = max(len(dims_of(s) - others) for s in derived.statistics)
    return beyond(graph, float(order**most)) if most > 1 else None


def _by_element(
    graph: Graph, derived: Derived | Scan | ChainConditional, data: Mapping[str, Any]
) -> Derived | Scan | ChainConditional:
    """The derivation by a form linear in each element, for arrays too large for a joint draw.

    (The products of all pairs of its elements would be as large as the precision matrix.)
    """
    found = conditional_of(graph, derived.statement, data, elements=True, certify=False)
    return found if isinstance(found, Conditional) and found.forms else derived


def _check_together(asked: Blocks, steps: Sequence[JointDraw], here: Collection[str]) -> None:
    """Refuse a block that was asked for and cannot be drawn jointly."""
    for names in asked.together:
        drawn_together = any(names <= set(s.variables) for s in steps)
        if names & set(here) and not drawn_together:
            listed = ", ".join(sorted(names))
            raise CompileError(
                f"blocks: ({listed}) cannot be drawn together: their log density, given everything "
                "else, is not quadratic in all of them together, or no term ties them; leave the "
                "block out."
            )


def _check_layouts(
    asked: Blocks, steps: Sequence[JointDraw], here: Collection[str], large: Sequence[TooLarge]
) -> None:
    """Refuse a layout that was asked for and cannot be made."""
    for names, how in asked.layouts:
        if not names & {*here}:
            continue
        listed = ", ".join(sorted(names))
        by_rows = any(names == {*s.variables} and s.rows is not None for s in steps)
        too_large = next((b.told for b in large if names <= {*b.arrays}), None)
        if how == MATRIX and too_large is not None:
            raise CompileError(
                f"blocks: the precision matrix of ({listed}) would take {too_large}; leave the "
                "block out."
            )
        if how == ROWS and not by_rows:
            raise CompileError(
                f"blocks: ({listed}) cannot be drawn by a matrix of the order of rows: terms that "
                "tie elements are no sum of squares over rows of data beside a precision of each "
                "element, or their matrices are too large; leave the block out."
            )


def _grown(
    graph: Graph,
    first: Derived,
    others: Sequence[Derived],
    data: Mapping[str, Any],
    asked: Blocks,
) -> tuple[JointDraw | None, list[TooLarge]]:
    """The joint draw of the block grown from a statement; None if the statement stays alone.

    And what was too large to be part of it.
    """
    alone = quadratic_of(graph, (first.statement,), data)
    if alone is None:
        return None, []
    block = alone
    waiting = list(others)
    needed = _needs_a_block(first)
    wanted = needed or _is_fixed(graph, first, block) or has_few_rows(graph, block, asked)
    step = joint_draw(graph, block, data, asked) if wanted else None
    if needed and isinstance(step, TooLarge):
        return None, [step]
    whole = step if isinstance(step, JointDraw) else None
    made = whole if whole is not None and (needed or whole.pencil or whole.rows) else None
    large = dict[str, TooLarge]()
    grew = True
    while grew:
        grew = False
        for other in list(waiting):
            trial = _with(graph, block, other.statement, data, asked)
            if trial is None:
                continue
            found = joint_draw(graph, trial, data, asked)
            if isinstance(found, TooLarge):
                large[_name(other)] = found
                continue
            block, made, grew = trial, found, True
            waiting.remove(other)
            large.pop(_name(other), None)
    return made, [*large.values()]


def _is_weak(
    names: set[str], weak: Collection[frozenset[str]], asked: Blocks
) -> bool:
    """Whether two arrays need not be drawn jointly, and are not asked to be."""
    return names in weak and not any(names <= group for group in asked.together)


def _with(
    graph: Graph, block: Quadratic, other: Statement, data: Mapping[str, Any], asked: Blocks
) -> Quadratic | None:
    """The block with another statement, if both are tied and jointly quadratic; else None."""
    names = {*block.arrays, other.target.array.name}
    wanted = any(names <= group for group in asked.together)
    held = {n for group in asked.groups for n in group}
    if len(names) > 1 and not wanted and names & (asked.alone | held):
        return None
    known = {f.name for s in block.statements for f in graph.factors_of(s.target.array)}
    if not known & {f.name for f in graph.factors_of(other.target.array)}:
        return None
    trial = quadratic_of(graph, (*block.statements, other), data)
    if trial is None:
        return None
    # (parts of one array that a constant keeps apart are one draw: a block is named by its arrays)
    of_one = other.target.array.name in block.arrays
    tied = of_one or any(are_tied(trial, graph, s, other) for s in block.statements)
    return trial if tied else None


def _needs_a_block(derived: Derived | Scan | ChainConditional) -> bool:
    """Whether the elements of one statement depend on one another, and are no block already."""
    return isinstance(derived, Conditional) and derived.elements


def _is_fixed(graph: Graph, derived: Derived, block: Quadratic) -> bool:
    """Whether a block's precision is made of few fixed matrices, large enough to diagonalise."""
    if not isinstance(derived, Conditional):
        return False
    dims = graph.variables[_name(derived)].dims
    if prod(graph.sizes[dims[a]] for a in derived.dense) < LEAST_DIAGONALISED:
        return False
    return is_fixed(graph, block)


def _name(derived: Derived | Scan | ChainConditional) -> str:
    return str(derived.statement.target.array.name)
