"""Which rewrites a model needs: tried where a variable has no exact conditional, kept if they help.

Comes in: a graph, its data, what the user asks for. Goes out: a `Rewritten` model: the last graph,
and the *stages* in which a sweep draws. Each auxiliary variable is drawn in the graph that it came
into, with all later ones integrated out; a variable is drawn in the first graph in which its
conditional is at its best, or in the last, if others may be drawn jointly with it there. A draw
makes the auxiliary variables of later stages stale, and these are drawn anew before anything reads
them: so each sweep leaves the posterior as it is. Locations integrated out are such variables, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gibbsppl.derive.conditionals import Derived, conditional_of
from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.pieces.cases import with_cases
from gibbsppl.pieces.choices import with_choices
from gibbsppl.pieces.outcomes import with_outcomes
from gibbsppl.rewrites import counts, links, positive, values, volatility
from gibbsppl.rewrites.applied import Rewrite
from gibbsppl.rewrites.collapsing import Scan, collapsed, refuse_pinned
from gibbsppl.rewrites.expansion import WORKING_SCALE
from gibbsppl.rewrites.integrals import Integral
from gibbsppl.rewrites.interweaving import with_interwoven
from gibbsppl.rewrites.leaves import (
    WithoutLeaves,
    conditional_of_leaf,
    marginalise_leaves,
    with_leaves,
)
from gibbsppl.rewrites.locations import (
    array_of,
    last_drawn,
    scales_without_locations,
    with_scales,
)
from gibbsppl.rewrites.marginal_draws import drawn_without
from gibbsppl.rewrites.parts import taken_apart
from gibbsppl.rewrites.quality import CONCAVE, quality_of
from gibbsppl.rewrites.rows import Rule
from gibbsppl.rewrites.search import Found, Rewritten, Search, wherever
from gibbsppl.rewrites.stages import Stage

REWRITES: tuple[Rule, ...] = (
    *links.RULES, *counts.RULES, *positive.RULES, *values.RULES, *volatility.RULES
)  # fmt: skip
RULES = (*REWRITES, WORKING_SCALE)  # (no search looks for the last)

# The names by which arrays being taken apart, values that nothing sees being drawn last, scales
# without their locations, and moves without numbers that they see, are asked for or forbidden.
PARTS, UNSEEN, LOCATIONS, MARGINAL_MOVES = "parts", "unseen", "locations", "marginal moves"


def rewritten(  # noqa: PLR0913  (settings, all named at the call)
    graph: Graph,
    data: Values,
    asked: Mapping[str, bool] | None = None,
    elements: Collection[str] = (),
    *,
    rules: tuple[Rule, ...] = REWRITES,
    collapse: Collection[str] = (),
    approximate: bool = False,
    moved: Collection[str] = (),
    interweave: bool | Collection[str] = False,
    named: Collection[str] = (),
    jointly: bool = True,
    closed: Collection[str] | None = None,
    climbed: Collection[str] = (),
    found: Found | None = None,
) -> Rewritten:
    """The model with the rewrites that give its variables exact conditionals.

    ``asked`` names rules: ``True`` to apply one wherever it fits, ``False`` never to. ``elements``
    names the variables to be drawn one element after the other. ``rules``: those to choose from.
    ``collapse`` names variables to be integrated out of the draws of the labels that see them;
    ``approximate``: all of these labels are drawn at once. ``moved`` names variables that the user
    has a kernel for: they need no rewrite. ``interweave``: locations and scales are drawn once more
    with their groups standardised, where that is cheap; or those named. ``named`` are variables
    that the user names elsewhere: they are drawn with all others. ``jointly``: whether what is
    quadratic together may be drawn in one step. ``closed``: all are drawn in one graph, closed
    forms of these alone are wanted; of ``climbed`` ones a concave log density is as good.
    """
    asked = dict(asked or {})
    _check_names(asked)
    graph = with_choices(with_cases(with_outcomes(graph, data)), data)
    given = _Asked(asked, frozenset(elements), rules, frozenset(moved), closed, jointly,
                   frozenset(climbed), frozenset(named), {} if found is None else found)
    shown = () if isinstance(interweave, bool) else interweave
    if collapse:
        marginal, model = WithoutLeaves(graph, data), _searched(graph, data, given)
    else:
        marginal, model = _marginalised(graph, data, given, {*elements, *moved, *shown, *named})
    if closed is not None:
        model = _in_one_graph(model)
        if not collapse:
            return _with_leaves(model, graph, marginal)
    else:
        model, graph, marginal = _with_parts(model, graph, marginal, given)
    if collapse:
        model = with_collapsed(model, collapse, approximate=approximate, jointly=jointly)
    elif given.names.get(LOCATIONS, bool(rules)):
        model = _with_locations(model, given, {*elements, *moved, *shown, *named})
    expand = asked.get(WORKING_SCALE.name, bool(rules))
    return _with_leaves(with_interwoven(model, interweave, collapse, expand), graph, marginal)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The choices of the user, the rules to choose from, the conditionals that are ``found``."""

    names: Mapping[str, bool]
    elements: frozenset[str]
    rules: tuple[Rule, ...]
    moved: frozenset[str] = frozenset()
    closed: Collection[str] | None = None
    jointly: bool = True
    climbed: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    found: Found = field(default_factory=dict)


def _searched(graph: Graph, data: Values, asked: _Asked) -> Rewritten:
    """The model with the rewrites that help its variables."""
    model = _searched_with(graph, data, asked, ())
    assert model is not None  # (there are no parts)
    return model


def _searched_with(
    graph: Graph, data: Values, asked: _Asked, parts: tuple[StandIn, ...]
) -> Rewritten | None:
    """The model with rewrites, a branch for each part; None if a part has no closed form."""
    search, allowed = _search_of(data, asked, parts), _allowed(asked)
    kept = search.asked(graph, tuple(r for r in asked.rules if asked.names.get(r.name)))
    for statement in graph.latent:
        if statement.target.array.name not in search.parts:
            kept += search.needed(graph, kept, statement, allowed)
    branches = {} if asked.closed is not None else search.branches(graph, kept, allowed)
    if branches is None:
        return None
    return replace(search.staged(graph, kept, branches), parts=parts)


def _search_of(data: Values, asked: _Asked, parts: tuple[StandIn, ...]) -> Search:
    alone, closed = frozenset(p.name for p in parts), frozenset(asked.closed or ())
    own = asked.climbed, asked.named
    return Search(data, asked.found, asked.elements, asked.moved, alone, closed, *own)


def _allowed(asked: _Asked) -> tuple[Rule, ...]:
    """The rules that the user does not forbid."""
    return tuple(r for r in asked.rules if asked.names.get(r.name, True))


def _marginalised(
    graph: Graph, data: Values, asked: _Asked, kept: Collection[str]
) -> tuple[WithoutLeaves, Rewritten]:
    """The graph with leaves integrated out, if all draws stay as good; and the model.

    The model has the rewrites of this graph. Draws are worse, too, with more auxiliary variables.
    """
    kept, now = set(kept), None
    wanted = asked.names.get(UNSEEN, bool(asked.rules))
    while wanted and (found := marginalise_leaves(graph, data, kept)).leaves:
        refused = _not_drawn(graph, found)
        if not refused:
            partly = {s.target.array.name for s in found.leaves if found.is_left(s)}
            if not partly:
                return found, _searched(found.graph, found.data, asked)
            now = now or _searched(graph, data, asked)
            # (a rule that is asked for may not fit any more)
            with contextlib.suppress(CompileError):
                then = _searched(found.graph, found.data, asked)
                if _is_as_good(then, now):
                    return found, then
            refused = partly
        kept |= refused
    if asked.names.get(UNSEEN):
        raise CompileError(
            f"rewrites[{UNSEEN!r}]: no variable that nothing sees, or of which only bounds are "
            "seen, and without which all others are drawn as well; leave it out."
        )
    return WithoutLeaves(graph, data), now or _searched(graph, data, asked)


def _not_drawn(graph: Graph, found: WithoutLeaves) -> set[str]:
    """The arrays that have no independent draws."""
    drawn = (d for stage in _last_stages(found.graph, graph, found) for d in stage.derived)
    worse = (d for d in drawn if not isinstance(d, Scan) and quality_of(d) > CONCAVE)
    return {d.statement.target.array.name for d in worse}


def _is_as_good(then: Rewritten, now: Rewritten) -> bool:
    """Whether one model has draws as good as another one, and no more auxiliary variables."""
    kept = (n for n in now.qualities if n in then.qualities)
    better = all(then.qualities[n] <= now.qualities[n] for n in kept)
    return better and len(then.rewrites) <= len(now.rewrites)


def _last_stages(last: Graph, graph: Graph, marginal: WithoutLeaves) -> list[Stage]:
    """The stages that impute leaves, array by array, without the arrays still to come."""
    names = list(dict.fromkeys(s.target.array.name for s in marginal.leaves))
    stages = []
    for n, name in enumerate(names, 1):
        drawn = tuple(s for s in marginal.leaves if s.target.array.name in names[:n])
        whole = with_leaves(last, graph, drawn)
        own = tuple(s for s in drawn if s.target.array.name == name)
        derived = tuple(conditional_of_leaf(whole, s, marginal.data) for s in own)
        stages.append(Stage(whole, derived, own))
    return stages


def _in_one_graph(model: Rewritten) -> Rewritten:
    """The model with all conditionals in the graph of all auxiliary variables."""
    if len(model.stages) == 1:
        return model
    graph, own = model.stages[-1].graph, tuple(s for g in model.stages for s in g.auxiliary)
    derived = tuple(conditional_of(graph, s, model.data) for s in graph.latent)
    return replace(model, stages=(Stage(graph, derived, own),), branches=())


def _with_leaves(model: Rewritten, graph: Graph, marginal: WithoutLeaves) -> Rewritten:
    """The model with leaves, imputed after all else."""
    stages = _last_stages(model.graph, graph, marginal)
    if not stages:
        return model
    return replace(
        model,
        graph=stages[-1].graph,
        branches=(*model.branches, *stages),
        leaves=tuple(dict.fromkeys(s.target.array.name for s in marginal.leaves)),
    )


def _with_parts(
    model: Rewritten, graph: Graph, marginal: WithoutLeaves, asked: _Asked
) -> tuple[Rewritten, Graph, WithoutLeaves]:
    """The model with arrays taken apart, where each part then has a closed form.

    The arrays are taken apart in the graph, and in ``marginal``, as well.
    """
    wanted = asked.names.get(PARTS, bool(asked.rules))
    if not wanted:
        return model, graph, marginal
    for name, quality in model.qualities.items():
        refused = name in asked.elements | asked.moved
        if quality <= CONCAVE or refused or name not in marginal.graph.variables:
            continue
        search = _search_of(marginal.data, asked, model.parts)
        if any(search.is_held(marginal.graph, s) for s in marginal.graph.statements_of(name)):
            continue
        for axis in range(len(marginal.graph.variables[name].dims)):
            found = _taken_apart(graph, marginal, name, axis)
            if found is None:
                continue
            whole, apart, parts = found
            every = (*model.parts, *parts)
            if len(model.stages) == 1 and not _have_closed_forms(apart, asked, every):
                continue
            other = _searched_with(apart.graph, marginal.data, asked, every)
            if other is not None:
                model, graph, marginal = other, whole, apart
                break
    if asked.names.get(PARTS) and not model.parts:
        raise CompileError(
            f"rewrites[{PARTS!r}]: no array whose parts, each given the others, have closed forms; "
            "leave it out."
        )
    return model, graph, marginal


def _have_closed_forms(marginal: WithoutLeaves, asked: _Asked, parts: tuple[StandIn, ...]) -> bool:
    """Whether parts have closed forms without rewrites that help other variables.

    Where nothing helped another one with the array whole, nothing does with the array in parts.
    """
    search = _search_of(marginal.data, asked, parts)
    return search.branches(marginal.graph, (), _allowed(asked)) is not None


def _taken_apart(
    graph: Graph, marginal: WithoutLeaves, name: str, axis: int
) -> tuple[Graph, WithoutLeaves, tuple[StandIn, ...]] | None:
    """A graph, and its marginal graph, with an array taken apart; None if it cannot be."""
    own = graph.statements_of(name)
    imputed = replace(graph, statements=(*own, *marginal.leaves))
    taken = {*graph.variables, *marginal.graph.variables}
    first, *others = (taken_apart(g, name, axis, taken) for g in (marginal.graph, graph, imputed))
    whole, beside = others
    if first is None or whole is None or beside is None:
        return None
    apart, parts = first
    drawn = beside[0].statements[len(parts) :]
    return whole[0], replace(marginal, graph=apart, leaves=drawn), parts


def with_collapsed(
    model: Rewritten, names: Collection[str], *, approximate: bool = False, jointly: bool = True
) -> Rewritten:
    """The model with labels drawn by a scan, given all but the variables named.

    Where no label sees these, other variables are drawn so. They are drawn right afterwards, the
    last to be integrated out first, each given those drawn before it: together this is a draw from
    their joint conditional.
    """
    graph, scans, integrals = collapsed(model.graph, model.data, names)
    if not scans:
        if approximate:
            raise CompileError(
                f"approximate: no label depends on {', '.join(names)}, so that none is drawn by a "
                "scan; leave approximate=True out."
            )
        last, conditionals = model.stages[-1], last_drawn(model)
        found = scales_without_locations(
            last.graph, model.data, conditionals, names, jointly=jointly
        )
        if found is not None and set(found.locations) == set(names):
            return with_scales(model, found)
        return _with_marginal_draws(model, graph, integrals)
    for rewrite in model.rewrites:
        refuse_pinned(scans, rewrite.statement, rewrite.rule.name)
    scanned = {s.statement.name for s in scans}
    *before, last = model.stages
    own = {s.name for s in last.auxiliary} - scanned
    gone = tuple(s for s in model.graph.statements if s.target.array.name in names)
    there = last_drawn(model)  # (given all auxiliary variables, as the labels are)
    skipped = scanned | {s.name for s in gone}
    stages = [replace(s, derived=_but(s.derived, skipped)) for s in before]
    stages.append(replace(last, derived=tuple(d for d in last.derived if d.statement.name in own)))
    recomputed = [s for s in scans if s.recomputed]
    if approximate and recomputed:
        label = recomputed[0].statement.target.array.name
        raise CompileError(
            f"approximate: the weights of {label} would be computed anew for each of its elements "
            f"({recomputed[0].recomputed}), not all at once; leave approximate=True out."
        )
    stages.append(Stage(graph, tuple(replace(s, approximate=approximate) for s in scans)))
    for i in reversed(integrals):
        drawn = i.conditional.statement
        if i.is_tied:
            stages.append(Stage(i.graph, (i.conditional,), (drawn,)))
        else:
            stages.append(Stage(last.graph, (there.get(drawn.name, i.conditional),), (drawn,)))
    stages.append(Stage(last.graph, _but(last.derived, skipped | own)))
    return replace(model, stages=tuple(stages))


def _with_locations(model: Rewritten, asked: _Asked, kept: Collection[str]) -> Rewritten:
    """The model with scales drawn without their locations, but for variables that are kept."""
    before = {n: d for n, d in last_drawn(model).items() if array_of(d) not in kept}
    last, jointly = model.stages[-1], asked.jointly
    found = scales_without_locations(last.graph, model.data, before, jointly=jointly)
    if found is not None:
        return with_scales(model, found)
    if asked.names.get(LOCATIONS):
        raise CompileError(
            f"rewrites[{LOCATIONS!r}]: no scale is drawn as well without a location that is "
            "quadratic, all of its coefficients in proportion to the scale; leave it out."
        )
    return model


def _with_marginal_draws(
    model: Rewritten, marginal: Graph, integrals: tuple[Integral, ...]
) -> Rewritten:
    """The model with draws with variables integrated out, and these drawn right after."""
    auxiliary = {s for stage in model.stages for s in stage.auxiliary}
    before = {
        d.statement.name: d
        for stage in model.stages
        for d in stage.derived
        if not isinstance(d, Scan) and d.statement not in auxiliary
    }
    found = drawn_without(model.graph, marginal, integrals, model.data, before)
    again = {d.statement.name for d in (*found.derived, *(d for _, d in found.after))}
    stages = [replace(s, derived=_but(s.derived, again)) for s in model.stages]
    stages.append(Stage(found.graph, found.derived))
    stages += [Stage(g, (d,), (d.statement,)) for g, d in found.after]
    return replace(model, stages=tuple(stages))


def _but(derived: tuple[Derived | Scan, ...], names: Collection[str]) -> tuple[Derived | Scan, ...]:
    return tuple(d for d in derived if d.statement.name not in names)


def possible(
    graph: Graph, data: Values, done: tuple[Rewrite, ...]
) -> tuple[Rewrite, ...]:
    """The rewrites that fit the model and were not made, the first for each rule and factor."""
    made = {(r.rule.name, r.factor) for r in done}
    found = {
        (r.rule.name, r.factor): r
        for rule in REWRITES
        for r in wherever(graph, data, rule)
        if (r.rule.name, r.factor) not in made and r.factor in {f.name for f in graph.factors}
    }
    return tuple(found.values())


def _check_names(asked: Mapping[str, bool]) -> None:
    names = [*(r.name for r in RULES), PARTS, UNSEEN, LOCATIONS, MARGINAL_MOVES]
    for name, wanted in asked.items():
        if name not in names:
            raise CompileError(
                f"rewrites: found {name!r}, expected names among {', '.join(map(repr, names))}."
                + did_you_mean(str(name), names)
            )
        if not isinstance(wanted, bool | np.bool_):
            raise CompileError(
                f"rewrites[{name!r}]: found {wanted!r}, expected True (apply it wherever it fits) "
                "or False (never)."
            )
