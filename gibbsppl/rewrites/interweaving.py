"""Interweaving: non-centred updates of locations and scales, the standardised groups held fixed.

Where the data say little of each ``theta[j] ~ location + scale * eta[j]``, a sweep that draws theta
given its location and scale, and these given theta, is slow: theta hardly moves without them. Drawn
once more with eta held fixed, and theta moving along, location and scale are free of theta; where
the data say much of each theta the first draw is the good one. The two together are never worse
than the better of them alone by more than their cost (Y. Yu and X.-L. Meng, 2011, "To center or not
to center: that is not the question", Journal of Computational and Graphical Statistics 20; J. S.
Liu and Y. N. Wu, 1999, "Parameter expansion for data augmentation", Journal of the American
Statistical Association 94).

Comes in: a `Rewritten` model. Goes out: the same with what is interwoven: each a non-centred graph
(`gibbsppl.rewrites.recentring`) with the conditional that is drawn in it. The state before
and after such a draw is that of the model: nothing downstream knows of the standardised array.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import sympy as sp

from gibbsppl.algebra.expressions import Expr, dims_of, leaves_of, mentions
from gibbsppl.algebra.ranges import fresh
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.graph_changes import with_statement_named
from gibbsppl.pieces.dependence import count_of, region_of, size_of_array, times_read, touches
from gibbsppl.pieces.split import View
from gibbsppl.rewrites.expansion import expansion
from gibbsppl.rewrites.predictors import coefficients
from gibbsppl.rewrites.quality import CLOSED, CONCAVE, FALLBACK, quality_of
from gibbsppl.rewrites.recentring import (
    anchor_of,
    has_scale,
    is_recentrable,
    location_and_scale,
    on_log_scale,
    recentred,
)
from gibbsppl.rewrites.rescaling import Rescaled, products, rescaled
from gibbsppl.rewrites.search import Rewritten
from gibbsppl.rewrites.stages import NonCentred, Stage, What

# A group of which the data say much is drawn well as it is: a sweep then costs up to three times as
# much for nothing. Where each element of a group is read more often than this, nothing is
# interwoven unless it is asked for (docs/rewrites.md has the measurements).
MOST_READ = 4
# One scale of so few elements is hardly known, whatever the data say of each: it may be near 0,
# where a group and its scale hold one another fast.
FEW = 10
# The elements of a group for each element of a scale, or a location, that they share.
LEAST_SHARED = 2


def with_interwoven(
    model: Rewritten,
    asked: bool | Collection[str],
    skipped: Collection[str] = (),
    expand: bool = False,
) -> Rewritten:
    """The model with locations and scales drawn once more: where it is cheap, or those asked for.

    ``skipped`` names variables that are integrated out of some draws. A scale that is drawn with a
    group integrated out gains nothing more from it. ``expand``: whether working scales are added.
    """
    if asked is False:
        return model
    names = None if asked is True else frozenset(asked)
    graph = model.stages[0].graph
    _check_names(graph, names or ())
    # (what a scan integrates out is right again in the last stage alone)
    every = range(len(model.stages))[-1 if skipped else 0 :]
    # (sums that stand for what is integrated out know nothing of other coordinates)
    stages = [n for n in every if skipped or not model.stages[n].graph.marginals]
    found: list[NonCentred] = []
    for group in graph.latent:
        if has_scale(graph, group) and group.target.array.name not in skipped:
            moving = _moving(graph, group, names)
            pairs = [
                (variable, what)
                for variable, what in moving
                if variable.target.array.name not in skipped
                and not _are_one(model, variable, group)
            ]
            found += _of_group(model, stages, group, pairs, names is not None, found)
    found += _coefficients(model, stages, names, skipped, found)
    found += _products(model, stages, names, skipped, found)
    if names is None and not skipped and expand:
        model, more = _expanded(model, found)
        found += more
    missing = sorted((names or frozenset()) - {v for f in found for v in f.variables})
    if missing:
        raise CompileError(_nothing_found(missing[0]))
    return replace(model, interwoven=tuple(found))


def _are_one(model: Rewritten, scale: Statement, group: Statement) -> bool:
    """Whether a scale is drawn with a group integrated out, and the group given the scale."""
    drawn = (s for s in model.stages if scale.name in {d.statement.name for d in s.derived})
    return not any(group.name in {t.name for t in s.graph.statements} for s in drawn)


def _moving(
    graph: Graph, group: Statement, names: frozenset[str] | None
) -> Iterator[tuple[Statement, What]]:
    """The locations and scales that may be drawn with a group held fixed, locations first."""
    location, scale = location_and_scale(group)
    told: tuple[tuple[What, Expr, Expr], ...] = (("scale", scale, sp.S.Zero),)
    if anchor_of(graph, group) is None:  # (a walk has no location but its own elements)
        told = (("location", location, scale), *told)
    for what, read, not_read in told:
        for variable in graph.latent:
            name = variable.target.array.name
            if _reads(graph, group, read, variable) and not mentions(not_read, (name,)):
                wanted = name in names if names is not None else _is_worth(graph, group, variable)
                if variable.support.kind == "real" and wanted:
                    yield variable, what


def _reads(graph: Graph, group: Statement, expr: Expr, variable: Statement) -> bool:
    """Whether an argument of a group may read what a statement draws (not its array elsewhere)."""
    leaves = leaves_of(expr, (variable.target.array.name,))
    region = region_of(graph, variable)
    return any(touches(View(x.array, x.indices), group.over, region) for x in leaves)


def _of_group(
    model: Rewritten,
    stages: Iterable[int],
    group: Statement,
    moving: Iterable[tuple[Statement, What]],
    asked: bool,
    before: Collection[NonCentred],
) -> list[NonCentred]:
    """The locations and scales of a group, all with the same array held fixed if there are both."""
    good: list[tuple[Statement, NonCentred]] = []
    for variable, what in moving:
        others = _Others(before, _named_by(best for _, best in good))
        made = [m for n in stages if (m := _made(model, n, group, variable, what, what, others))]
        if found := [m for m in made if asked or _is_cheap(m)]:
            good.append((variable, _best(found)))
    held: What = "scale" if any(best.what == "scale" for _, best in good) else "location"
    found = []
    for variable, best in sorted(good, key=lambda pair: pair[1].after):
        same = best.what == held
        names = _named_by(m for _, m in good if m is not best)
        others = _Others((*before, *found), names)
        m = best if same else _made(model, best.after, group, variable, best.what, held, others)
        found += [m] if m is not None else []
    return found


def _coefficients(
    model: Rewritten,
    stages: Iterable[int],
    names: frozenset[str] | None,
    skipped: Collection[str],
    before: Collection[NonCentred],
) -> Iterator[NonCentred]:
    """Yield joint draws of the coefficients in a group's predictors, with the sums held fixed."""
    stage = max(stages)
    graph = model.stages[stage].graph
    taken = _names(model, before)
    for group in graph.latent:
        if not is_recentrable(graph, group) or group.target.array.name in skipped:
            continue
        array = group.target.array.name
        made = coefficients(graph, group, fresh(f"{array}_sum", taken), model.data)
        if made is None:
            continue
        there, change, quadratic = made
        drawn = quadratic.arrays
        if set(drawn) & set(skipped) or (names is not None and not names & set(drawn)):
            continue
        yield NonCentred(
            there,
            (),
            stand_ins=(change,),
            quadratic=quadratic,
            variables=drawn,
            group=array,
            what="coefficients",
            before=graph,
            after=stage,
        )


def _products(
    model: Rewritten,
    stages: Iterable[int],
    names: frozenset[str] | None,
    skipped: Collection[str],
    before: Collection[NonCentred],
) -> list[NonCentred]:
    """Draws of scales with their products with arrays held fixed, where others see these alone."""
    found: list[NonCentred] = []
    for scale in model.stages[0].graph.latent:
        name = scale.target.array.name
        if name in skipped or (names is not None and name not in names):
            continue
        made = []
        for n in stages:
            graph = model.stages[n].graph
            taken = _names(model, (*before, *found))
            for group, power in products(graph, scale):
                array = group.target.array.name
                shared = names is not None or count_of(graph, group) >= LEAST_SHARED
                if array in skipped or not shared:
                    continue
                new = {array: fresh(f"{array}_scaled", taken)}
                there = rescaled(graph, scale.target, {array: power}, new)
                if there is not None:
                    taken |= set(new.values())
                    made.append(_drawn(model, n, there, scale, group, "scale", taken))
        if cheap := [m for m in made if names is not None or _is_cheap(m)]:
            found.append(_best(cheap))
    return found


def _expanded(
    model: Rewritten, before: Collection[NonCentred]
) -> tuple[Rewritten, list[NonCentred]]:
    """The model with working scales, each drawn once more with what moves along held fixed."""
    last, found, done = model.stages[-1].graph, list[NonCentred](), set[str]()
    if last.marginals or last is not model.graph:
        return model, found
    for name in (r.variable for r in model.rewrites):
        made = None if name in done else expansion(model.graph, model.data, name)
        if made is None:
            continue
        done |= set(made.moved)
        graph, own = made.rewrite.graph, made.rewrite.statement
        taken = _names(model, (*before, *found)) | set(graph.variables)
        new = {n: fresh(f"{n}_scaled", taken) for n in made.moved}
        there = rescaled(graph, own.target, dict.fromkeys(made.moved, sp.S.NegativeOne), new)
        if there is None:
            continue
        derived = conditional_of(graph, own, model.data)
        stage = Stage(graph, (derived,), (own,))
        wider = replace(
            model,
            graph=graph,
            rewrites=(*model.rewrites, made.rewrite),
            stages=(*model.stages, stage),
        )
        group = graph.statement(made.moved[0])
        names = taken | set(new.values())
        drawn = _drawn(wider, len(model.stages), there, own, group, "scale", names)
        if quality_of(derived) == CLOSED == _quality(drawn):
            model, found = wider, [*found, drawn]
    return model, found


def often_read(model: Rewritten) -> Iterator[tuple[Graph, str, str]]:
    """Yield groups with scales that they share, left as they are because others read them often.

    With the graph that the group is drawn in.
    """
    graph = model.stages[-1].graph
    for group in graph.latent:
        if not is_recentrable(graph, group) or graph.marginals:
            continue
        scale = location_and_scale(group)[1]
        for variable in graph.latent:
            own = _reads(graph, group, scale, variable) and variable.support.kind == "real"
            shared = own and _is_shared(graph, group, variable)
            left = shared and not _is_worth(graph, group, variable)
            if left and not _are_one(model, variable, group):
                yield graph, group.target.array.name, variable.target.array.name


def _is_shared(graph: Graph, group: Statement, variable: Statement) -> bool:
    """Whether elements of a group share each location or scale.

    (A family without a location, a Gamma with its rate, gains nothing where it was measured.)
    """
    row = group.family.location_scale
    size = size_of_array(graph, group.target.array.name)
    several = size >= LEAST_SHARED * count_of(graph, variable)
    return several and row is not None and row.location is not None


def _is_worth(graph: Graph, group: Statement, variable: Statement) -> bool:
    """Whether elements of a group share a location or scale, and are few or seldom read by others.

    (Few elements with a scale of each, as in a horseshoe, gain nothing where it was measured.)
    """
    array = group.target.array
    size = size_of_array(graph, array.name)
    own = {s.name for s in graph.statements_of(array.name)}
    readers = (f for f in graph.factors_of(array) if f.name not in own)
    read = sum(times_read(graph, f, array.name) for f in readers)
    few = size <= FEW and not dims_of(location_and_scale(group)[1])
    seldom = read <= MOST_READ * size
    return _is_shared(graph, group, variable) and (few or seldom)


def _made(
    model: Rewritten,
    stage: int,
    group: Statement,
    variable: Statement,
    what: What,
    held: What,
    others: _Others,
) -> NonCentred | None:
    """A variable with its conditional given the standardised group, in the graph of a stage."""
    graph, taken = model.stages[stage].graph, _names(model, others.made)
    own = next((s for s in graph.statements if s.name == group.name), None)
    if own is None or not has_scale(graph, own):
        return None
    array = group.target.array.name
    first = recentred(graph, own, f"{array}_eta", held)
    known = [i.stand_ins[0] for i in others.made if i.after == stage]
    if first is not None and first.stand_in not in known and first.stand_in.name in taken:
        first = recentred(graph, own, fresh(f"{array}_eta", taken), held)
    if first is None or not first.is_free_of(variable.target.array.name):
        return None
    taken |= others.names
    return _drawn(model, stage, (first.graph, (first.stand_in,)), variable, group, what, taken)


def _drawn(
    model: Rewritten,
    stage: int,
    recentred_graph: Rescaled,
    variable: Statement,
    group: Statement,
    what: What,
    taken: Collection[str],
) -> NonCentred:
    """A variable with its conditional in a graph in which arrays stand for others."""
    array, name = group.target.array.name, variable.target.array.name
    called = fresh(f"{name}_with_{array}", taken)
    there, changes = recentred_graph
    # (each step of a sweep has a name of its own)
    there = with_statement_named(there, variable.name, called)
    statement = there.statement(called)
    derived = conditional_of(there, statement, model.data)
    if quality_of(derived) == FALLBACK and statement.support.lower == 0:
        second = on_log_scale(there, statement, fresh(f"log_{name}", taken))
        if second is not None:
            there, changes = second.graph, (*changes, second.stand_in)
            derived = conditional_of(there, there.statement(called), model.data)
    return NonCentred(
        there,
        (derived,),
        stand_ins=changes,
        variables=(name,),
        group=array,
        what=what,
        before=model.stages[stage].graph,
        after=stage,
    )


@dataclass(frozen=True, slots=True)
class _Others:
    """The interwoven draws made so far, and the names reserved for other draws of the group.

    (Draws of a group may be of parts of the same array.)
    """

    made: Collection[NonCentred]
    names: frozenset[str]


def _named_by(made: Iterable[NonCentred]) -> frozenset[str]:
    """The names that draws introduce: of steps, and of arrays such as the log of a scale."""
    return frozenset(n for m in made for n in (m.name, *(r.name for r in m.stand_ins[1:])))


def _names(model: Rewritten, found: Collection[NonCentred]) -> set[str]:
    """The names of all arrays, statements and functions of the state."""
    graphs = [s.graph for s in (*model.stages, *model.branches)] + [f.graph for f in found]
    arrays = {n for g in graphs for n in g.variables}
    said = {s.name for g in graphs for s in g.statements}
    return arrays | said | {d.name for g in graphs for d in g.deterministics}


def _is_cheap(made: NonCentred) -> bool:
    """Whether a draw is worth its cost: a scale in one call, a location from a closed form."""
    quality = _quality(made)
    if made.what == "location":
        return quality == CLOSED
    return quality <= CONCAVE or (quality == FALLBACK and not made.conditional.elements)


def _best(made: Collection[NonCentred]) -> NonCentred:
    """The best conditional: a closed form of the last stage, or any other of the first stage."""
    return min(
        made,
        key=lambda m: (q := _quality(m), -m.after if q == CLOSED else m.after),
    )


def _quality(made: NonCentred) -> int:
    own = made.conditional
    return CLOSED if isinstance(own, Quadratic) else quality_of(own)


def _check_names(graph: Graph, names: Collection[str]) -> None:
    latent = set(graph.drawn)
    for name in names:
        if name not in latent:
            raise CompileError(
                f"interweave: found {name!r}, expected latent variables of the model, among "
                f"{', '.join(sorted(latent))}.{did_you_mean(name, latent)}"
            )


def _nothing_found(name: str) -> str:
    return (
        f"interweave: {name} is no location or scale of a latent array of a location-scale family "
        "drawn whole, by one statement or in units or steps of one scale, not truncated; omit it."
    )
