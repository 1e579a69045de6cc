"""How a conditional was recognised, and its parameters in the family's own names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.notation import Notation, wrapped
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.inversion import EVENT, PARTNER, inversion_of, solved_parameters
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.readings import ENTRY
from gibbsppl.explain.terms import bounds_told, statistic_shown, value_of
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.split import Piece
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.steps import Step

WIDTH = 96
MOST_LINES = 8


def family_told(step: FamilyDraw, graph: Graph) -> list[str]:
    """The recognised family, by its statistics and support."""
    notation, family = Notation(graph.sizes), step.conditional.family
    conditional = step.conditional
    target = step.statement.target
    is_new = conditional.change is not None
    support = conditional.support if is_new else step.statement.support
    shown = [notation.text(statistic_shown(p, step, graph)) for p in step.parameters]
    lines = changed_told(conditional, notation)
    lines += [f"support     {conditional.place if is_new else target} in {support}"]
    lines += [f"limit       {limit}" for limit in conditional.limits]
    lines += [f"statistics  {', '.join(shown) or 'none'}"]
    lines += [f"family      {family.name}{_why(step)}"]
    lines += [f"known       {n} = {notation.text(v)}" for n, v in step.conditional.known]
    if step.dense:
        dims = ", ".join(_axes(step, graph)[a].name for a in step.dense)
        lines += [f"block       terms with two entries along {dims}: these are drawn together"]
    if step.is_by_element:
        who = "those of one colour are drawn together" if step.is_coloured else "each is drawn"
        told = f"{who}, given the others as they are"
        lines += [f"elements    depend on one another: {told}"]
    return lines


def jointly_told(
    step: Step, pieces: Iterable[Piece], precision: str, notation: Notation
) -> list[str]:
    """Why several variables can be drawn at once, and how it is done."""
    tied = [p for p in pieces if len(p.views) == 2]
    pairs = ", ".join(dict.fromkeys(notation.text(p.statistic) for p in tied))
    return [
        "all terms are of degree one or two in the elements: their log density is quadratic",
        *wrapped(f"terms that tie two elements: {pairs}", WIDTH),
        f"family      {step.owner}, for all of {', '.join(step.variables)} together",
        f"precision   {precision}",
        "(gp.compile(model, blocks=False) derives each given the others)",
    ]


def new_variable_told(step: Step, notation: Notation) -> list[str]:
    """The line on the change of variable under which terms are collected; none without."""
    if step.change is None:
        return []
    new = notation.text(step.change.forward(step.statement.target))
    return [f"with {step.place} = {new} as the variable, and the log of its Jacobian:"]


def changed_told(conditional: Conditional | LogConcave, notation: Notation) -> list[str]:
    """The change of variable, and its Jacobian."""
    change, target = conditional.change, conditional.statement.target
    if change is None:
        return []
    new = notation.text(change.forward(target))
    jacobian = sp.exp(change.log_jacobian(conditional.place))
    told = f"|d{target}/d{conditional.place}| ~ {notation.text(jacobian)}"
    return [f"change      {conditional.place} = {new}, with the Jacobian {told}"]


def _why(step: FamilyDraw) -> str:
    own = step.conditional.change is None and step.conditional.family is step.statement.family
    smallest = "the smallest one with these statistics on this support"
    why = "the prior's own, which has these statistics" if own else smallest
    truncated = ", truncated" if step.conditional.truncated else ""
    return f": {why}{truncated}"


def parameters_told(step: FamilyDraw, graph: Graph) -> list[str]:
    """Each parameter as a function of the natural parameters, and with these put in."""
    family = step.conditional.family
    inversion, names = inversion_of(family), _event_names(step, graph)
    dims = tuple(names.get(d, d) for d in (EVENT, PARTNER))
    own = {n: dims[: p.event] for n, p in family.parameters.items()}
    notation = Notation(graph.sizes, own)
    values = _values(step)
    put_in = solved_parameters(family, values, names) if values is not None else {}
    lines = bounds_told(step, notation)
    for name, formula in inversion.solved:
        lines += _read_off(name, formula.xreplace(names), put_in.get(name), graph, notation)
    for eta, formula in inversion.equations:
        unsolved = [n for n in family.parameters if n not in dict(inversion.solved)]
        equation = f"{Notation(graph.sizes).text(formula.xreplace(names))} = {eta}"
        lines.append(f"{', '.join(unsolved)} solves {equation}")
    if step.statement.support.kind == "counts":
        lines.append("(up to the factor that makes the probabilities sum to one)")
    return lines or ["none: all parameters are known"]


def _read_off(
    name: str, formula: Expr, value: Expr | None, graph: Graph, notation: Notation
) -> list[str]:
    told = f"{name} = {notation.text(formula)}"
    if value is None:
        return [told]
    model = Notation(graph.sizes)
    if len(whole := f"{told} = {model.text(value)}") <= WIDTH:
        return [whole]
    above, below = sp.fraction(value)
    lines = wrapped("= " + model.factor(above), WIDTH)
    lines += wrapped("/ " + model.factor(below), WIDTH) if below != 1 else []
    return [told, *("  " + line for line in lines)] if len(lines) <= MOST_LINES else [told]


def _values(step: FamilyDraw) -> Mapping[str, Expr] | None:
    """The natural parameters by name, where each is one expression for all elements."""
    values = {f"eta_{j}": value_of(p, step) for j, p in enumerate(step.parameters, 1)}
    whole = {n: v for n, v in values.items() if v is not None}
    return whole if len(whole) == len(values) else None


def _event_names(step: FamilyDraw, graph: Graph) -> dict[Dim, Dim]:
    """The model's own names of the dims k and k' of an event."""
    if step.dense:
        if len(step.dense) > 1:
            return {EVENT: ENTRY}
        order = len(step.batch + step.dense)
        partners = [p.axes[order] for p in step.parameters if len(p.axes) > order]
        own = _axes(step, graph)[step.dense[0]]
        return dict(zip((EVENT, PARTNER), (own, *partners[:1]), strict=False))
    event = step.statement.event
    return dict(zip((EVENT, PARTNER), (*event, *map(primed, event[:1])), strict=False))


def _axes(step: FamilyDraw, graph: Graph) -> tuple[Dim, ...]:
    return graph.variables[step.statement.target.array.name].dims
