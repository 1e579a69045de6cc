"""The choice of variables that are drawn together by proposals about their mode.

Comes in: the conditionals of one graph, those of joint draws among them. Goes out: a `ModalMove`
for each block of variables whose log density is concave in all together, if one of them would be
drawn by its log density. All elements of a small block are proposed, in place of its draws. Of a
larger one the smallest variables are, with which the others move along, besides all draws: so no
variable depends on proposals that are seldom accepted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

from sympy import Add

from gibbsppl.algebra.expressions import mentions
from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.second_order import SecondOrder, Term, expanded_about, second_order
from gibbsppl.derive.weights import has_function
from gibbsppl.errors import CompileError
from gibbsppl.kernels.joint import JointDraw
from gibbsppl.kernels.modal import ModalMove
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import count_of, times_read
from gibbsppl.planning.concave_blocks import Member, Objective, concave_blocks, is_searched_for
from gibbsppl.planning.rules import RULES
from gibbsppl.planning.unproposed import why_not_proposed
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.precisions import TooLarge

MOST_PROPOSED = RULES["most proposed"].value

Drawn = Derived | Scan | ChainConditional | JointDraw


def with_modal(
    graph: Graph,
    drawn: Sequence[Drawn],
    data: Mapping[str, Any],
    asked: Blocks,
    recentred: Collection[str] = (),
) -> tuple[list[Drawn | ModalMove], tuple[TooLarge, ...]]:
    """The conditionals, with the steps of blocks in place of those that they replace.

    And blocks that would be proposed, or move along, if their matrices were not too large.
    Variables that are ``recentred`` are drawn with others moving along already: interwoven.
    """
    members = [_member(d, asked) for d in drawn if not isinstance(d, ChainConditional | Scan)]
    if not any(m.is_sought for m in members) and not asked.proposed:
        return list(drawn), ()
    names = {n for m in members for n in m.variables}
    taken: dict[tuple[str, ...], SecondOrder] = {}

    def whole(
        graph: Graph, found: SecondOrder, data: Mapping[str, Any], asked: Blocks
    ) -> ModalMove | TooLarge:
        step = ModalMove.of(graph, found, data, asked)
        if not isinstance(step, TooLarge):
            taken[_names(step.statements)] = found
        return step

    terms = terms_of(graph, names)
    objective = Objective(graph, terms, data, asked, whole, constrained=True)
    blocks = concave_blocks(objective, members)
    _check_proposed(blocks, objective, members)
    made = (_proposing(graph, b, taken[_names(b.statements)], data, asked) for b in blocks)
    steps = [s for s in made if s is not None and not (s.last and {*s.last} <= {*recentred})]
    gone = {n for step in steps if not step.last for n in _names(step.statements)}
    large = tuple(replace(b, how="proposed together") for b in objective.large)
    return [*steps, *(d for d in drawn if not gone.issuperset(_names(_statements(d))))], large


def _proposing(
    graph: Graph, whole: ModalMove, taken: SecondOrder, data: Mapping[str, Any], asked: Blocks
) -> ModalMove | None:
    """The step of a block; None where nothing is tied to anything, or too much would be proposed.

    (A single number is drawn exactly at no higher cost. Where constraints hold a block its mode may
    be where they end: a short chain has to show that proposals are accepted.)
    """
    counts: dict[str, int] = {}
    for s in taken.quadratic.statements:
        name = s.target.array.name
        counts[name] = counts.get(name, 0) + count_of(graph, s)
    if any(counts.keys() <= group for group in asked.proposed):
        return whole
    is_left = taken.is_constrained or not taken.quadratic.pairs
    if is_left or _is_fitted_to_others(graph, taken, counts):
        return None
    if sum(counts.values()) <= max(MOST_PROPOSED, sqrt(_least_read(graph, taken, counts))):
        return whole
    last, total = list[str](), 0
    for name in sorted(counts, key=lambda n: counts[n]):
        total += counts[name]
        if total > MOST_PROPOSED:
            break
        last.append(name)
    found = ModalMove.of(graph, taken, data, asked, tuple(last)) if last else None
    return None if isinstance(found, TooLarge) else found


def _check_proposed(
    blocks: Sequence[ModalMove], objective: Objective[ModalMove], members: Sequence[Member]
) -> None:
    """Refuse a block that is asked for and cannot be proposed, with the reason."""
    here = {n for m in members for n in m.variables}
    for names in objective.asked.proposed:
        if names & here and not any(names <= {*b.variables} for b in blocks):
            reason = why_not_proposed(objective, members, names)
            raise CompileError(
                f"blocks: ({', '.join(sorted(names))}) cannot be proposed: {reason}; leave the "
                "block out."
            )


def _least_read(graph: Graph, taken: SecondOrder, counts: Mapping[str, int]) -> float:
    """How many terms that are not quadratic read each element, of the array with fewest."""
    held = {factor for factor, value, _ in taken.terms if has_function(value, counts)}
    factors = [f for f in graph.factors if f.name in held]
    return min(sum(times_read(graph, f, n) for f in factors) / count for n, count in counts.items())


def _is_fitted_to_others(graph: Graph, taken: SecondOrder, names: Collection[str]) -> bool:
    """Whether functions of a block hold variables that are drawn besides, but for outcomes.

    Slopes, labels, hazards: a block that is fitted to these holds them where they are. (From far
    starts the slope of lsat did not come back; cervix, leukfr and hips were up to four times as
    slow with proposals.) Outcomes, such as times that are censored, follow the block.
    """
    own = {f.name: f.target.array.name for f in graph.factors if isinstance(f, Statement)}
    for factor, value, _ in taken.terms:
        others = {*graph.drawn} - {*names, own.get(factor)}
        if any(has_function(t, names) and mentions(t, others) for t in Add.make_args(value)):
            return True
    return False


def _member(drawn: Derived | JointDraw, asked: Blocks) -> Member:
    """The conditional, or joint draw, as a possible member of a block."""
    found = drawn.conditional if isinstance(drawn, JointDraw) else drawn
    is_asked = any(_arrays(drawn) <= group for group in asked.proposed)
    return Member(_statements(drawn), found, is_asked or is_searched_for(found))


def _statements(drawn: Drawn) -> tuple[Statement, ...]:
    """The statements that are drawn."""
    if isinstance(drawn, JointDraw | ChainConditional):
        return drawn.statements
    return (drawn.statement,)


def _names(statements: Iterable[Statement]) -> tuple[str, ...]:
    """The names of statements: others may draw other parts of their arrays."""
    return tuple(s.name for s in statements)


def _arrays(drawn: Drawn) -> set[str]:
    """The arrays that are drawn."""
    return {s.target.array.name for s in _statements(drawn)}


def terms_of(graph: Graph, names: Collection[str]) -> tuple[Term, ...]:
    """The log density, factor by factor, without what mentions none of some arrays."""
    found = ((f.name, f.log_density, f.over) for f in graph.factors)
    held = (
        (name, Add(*(t for t in Add.make_args(value) if mentions(t, names))), over)
        for name, value, over in found
    )
    return tuple((name, value, over) for name, value, over in held if value != 0)


def to_second_order(
    graph: Graph, statements: Sequence[Statement], data: Values
) -> Quadratic | None:
    """The log density of statements to second order, if it is concave."""
    names = {s.target.array.name for s in statements}
    terms = terms_of(graph, names)
    found = second_order(graph, statements, terms, data, constrained=True)
    return None if found is None else found.quadratic


def expanded(graph: Graph, statements: Sequence[Statement], data: Values) -> Quadratic | None:
    """The log density of statements to second order, concave or not."""
    names = {s.target.array.name for s in statements}
    return expanded_about(graph, statements, terms_of(graph, names), data)
