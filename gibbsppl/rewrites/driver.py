"""Which rewrites a model needs: tried where a variable has no exact conditional, kept if they help.

Comes in: a graph, its data, what the user asks for. Goes out: a `Rewritten` model: the last graph,
and the *stages* in which a sweep draws. Each auxiliary variable is drawn in the graph that it came
into, with all later ones integrated out; a variable is drawn in the last graph in which its
conditional is at its best. A draw makes the auxiliary variables of later stages stale, and these
are drawn anew before anything reads them: so each sweep leaves the posterior as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sympy import Add

from gibbsppl.concavity import LogConcave, known_bounds
from gibbsppl.conditionals import Derived, conditional_of
from gibbsppl.errors import CompileError
from gibbsppl.expressions import Expr, Over, leaves_of, mentions
from gibbsppl.graph import PLAIN, Graph, Statement
from gibbsppl.matching import NotConjugate
from gibbsppl.rewrites import counts, links, positive, values
from gibbsppl.rewrites.applied import Rewrite, applications
from gibbsppl.rewrites.collapsing import Scan, collapsed
from gibbsppl.rewrites.rows import Rule
from gibbsppl.signs import NONNEGATIVE, sign_of

REWRITES: tuple[Rule, ...] = (*links.RULES, *counts.RULES, *positive.RULES, *values.RULES)

# How many rules, one after the other, may be tried on one variable.
MOST_RULES = 3

# From best to worst: drawn from a closed form, by adaptive rejection all at once, the same one by
# one, by a fallback move.
CLOSED, CONCAVE, CONCAVE_BY_ELEMENT, FALLBACK = range(4)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A graph, and what is drawn given its variables, later auxiliary ones integrated out."""

    graph: Graph
    derived: tuple[Derived | Scan, ...]
    auxiliary: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Rewritten:
    """A model after its rewrites: the last graph, the data with new tables, the stages in order."""

    graph: Graph
    data: Mapping[str, Any]
    rewrites: tuple[Rewrite, ...]
    stages: tuple[Stage, ...]


def rewritten(
    graph: Graph,
    data: Mapping[str, Any],
    asked: Mapping[str, bool] | None = None,
    elements: Collection[str] = (),
    *,
    rules: tuple[Rule, ...] = REWRITES,
    collapse: Collection[str] = (),
    approximate: bool = False,
) -> Rewritten:
    """The model with the rewrites that give its variables exact conditionals.

    ``asked`` names rules: ``True`` to apply one wherever it fits, ``False`` never to. ``elements``
    names the variables to be drawn one element after the other. ``rules``: those to choose from.
    ``collapse`` names variables to be integrated out of the draws of the labels that see them;
    ``approximate``: all of these labels are drawn at once.
    """
    asked = dict(asked or {})
    _check_names(asked)
    search = _Search(data, {}, frozenset(elements))
    kept = search.asked(graph, tuple(r for r in rules if asked.get(r.name)))
    allowed = tuple(r for r in rules if asked.get(r.name, True))
    for statement in graph.latent:
        kept += search.needed(graph, kept, statement, allowed)
    model = search.staged(graph, kept)
    return with_collapsed(model, collapse, approximate=approximate) if collapse else model


def with_collapsed(
    model: Rewritten, names: Collection[str], *, approximate: bool = False
) -> Rewritten:
    """The model with labels drawn by a scan, given all but the variables named.

    These are drawn right after the labels, the last to be integrated out first, each given those
    drawn before it: together this is a draw from their joint conditional.
    """
    graph, scans, integrals = collapsed(model.graph, model.data, names)
    scanned = {s.statement.name for s in scans}
    *before, last = model.stages
    own = {s.name for s in last.auxiliary} - scanned
    gone = tuple(s for s in model.graph.statements if s.target.array.name in names)
    moved = {d.statement.name: d for stage in model.stages for d in stage.derived}
    skipped = scanned | {s.name for s in gone}
    stages = [replace(s, derived=_but(s.derived, skipped)) for s in before]
    stages.append(replace(last, derived=tuple(d for d in last.derived if d.statement.name in own)))
    stages.append(Stage(graph, tuple(replace(s, approximate=approximate) for s in scans)))
    for i in reversed(integrals):
        drawn = i.conditional.statement
        if i.is_tied:
            stages.append(Stage(i.graph, (i.conditional,), (drawn,)))
        else:
            stages.append(Stage(last.graph, (moved[drawn.name],), (drawn,)))
    stages.append(Stage(last.graph, _but(last.derived, skipped | own)))
    return replace(model, stages=tuple(stages))


def _but(derived: tuple[Derived | Scan, ...], names: Collection[str]) -> tuple[Any, ...]:
    return tuple(d for d in derived if d.statement.name not in names)


def possible(
    graph: Graph, data: Mapping[str, Any], done: tuple[Rewrite, ...]
) -> tuple[Rewrite, ...]:
    """The rewrites that fit the model and were not made, the first for each rule and factor."""
    made = {(r.rule.name, r.factor) for r in done}
    found = {
        (r.rule.name, r.factor): r
        for rule in REWRITES
        for r in _wherever(graph, data, rule)
        if (r.rule.name, r.factor) not in made and r.factor in {f.name for f in graph.factors}
    }
    return tuple(found.values())


def _wherever(graph: Graph, data: Mapping[str, Any], rule: Rule) -> tuple[Rewrite, ...]:
    """A rule applied wherever it fits for any latent variable, one after the other."""
    found: list[Rewrite] = []
    factors = [f.name for f in graph.factors]
    for name in dict.fromkeys(s.target.array.name for s in graph.latent):
        made = tuple(applications(graph, data, rule, (name,), factors))
        found += made
        if made:
            graph, data = made[-1].graph, made[-1].data
    return tuple(found)


def _check_names(asked: Mapping[str, bool]) -> None:
    names = [r.name for r in REWRITES]
    for name, wanted in asked.items():
        if name not in names:
            raise CompileError(
                f"rewrites: found {name!r}, expected names among {', '.join(map(repr, names))}."
            )
        if not isinstance(wanted, bool | np.bool_):
            raise CompileError(
                f"rewrites[{name!r}]: found {wanted!r}, expected True (apply it wherever it fits) "
                "or False (never)."
            )


def _does_not_fit(
    rule: Rule, graph: Graph, data: Mapping[str, Any], latent: Collection[str]
) -> str:
    heads = rule.head if isinstance(rule.head, tuple) else (rule.head,)
    near = [
        f"{f.name} has {PLAIN.text(e)}{_what_is_negative(e, graph, data)}"
        for f in graph.factors
        for e in sorted(f.log_density.atoms(*heads) if heads else (), key=str)
        if mentions(e, latent)
    ]
    found = f" ({'; '.join(near[:3])})" if near else ""
    return (
        f"rewrites[{rule.name!r}]: no term of the model{found} has the form that it needs, "
        f"{rule.identity}: all terms of a sum must be known to be positive or zero, and counts to "
        "be whole numbers. Leave it out, or give the variables supports from which that follows."
    )


def _what_is_negative(head: Expr, graph: Graph, data: Mapping[str, Any]) -> str:
    """The first term of a sum under a head that is not known to be positive or zero."""
    total = head.args[0].body if isinstance(head.args[0], Over) else head.args[0]
    if total.is_Add or total is not head.args[0]:
        for term in Add.make_args(total):
            sign = sign_of(term, known_bounds(graph, data))
            if sign not in NONNEGATIVE:
                may = "may be negative" if sign == "unknown" else "is negative"
                return f", whose term {PLAIN.text(term)} {may}"
    return ""


def _last(graph: Graph, kept: tuple[Rewrite, ...]) -> Graph:
    return kept[-1].graph if kept else graph


def _data(data: Mapping[str, Any], kept: tuple[Rewrite, ...]) -> Mapping[str, Any]:
    return kept[-1].data if kept else data


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Conditionals by graph, each derived once.

    ``found`` keeps the graphs, too: the identity of one that is gone may be another's.
    """

    data: Mapping[str, Any]
    found: dict[tuple[int, str], tuple[Graph, Derived]]
    elements: frozenset[str]

    def derived(self, graph: Graph, data: Mapping[str, Any], statement: Statement) -> Derived:
        """The conditional of a statement in a graph."""
        key = (id(graph), statement.name)
        if key not in self.found:
            asked = statement.target.array.name in self.elements
            own = graph.statement(statement.name)
            self.found[key] = graph, conditional_of(graph, own, data, elements=asked)
        return self.found[key][1]

    def asked(self, graph: Graph, rules: tuple[Rule, ...]) -> tuple[Rewrite, ...]:
        """The rules that the user asks for, each wherever it fits; one may make way for another."""
        kept: tuple[Rewrite, ...] = ()
        waiting = list(rules)
        latent = {s.target.array.name for s in graph.latent}
        while waiting:
            for rule in waiting:
                found = _wherever(_last(graph, kept), _data(self.data, kept), rule)
                if found:
                    break
            else:
                raise CompileError(_does_not_fit(waiting[0], graph, self.data, latent))
            for rewrite in found:
                if not self._is_exact(rewrite):
                    raise CompileError(
                        f"rewrites[{rule.name!r}]: {rewrite.variable}, which it would add to "
                        f"{rewrite.factor}, has no closed form itself; leave it out."
                    )
            waiting.remove(rule)
            kept += found
        return kept

    def needed(
        self,
        graph: Graph,
        kept: tuple[Rewrite, ...],
        statement: Statement,
        allowed: tuple[Rule, ...],
    ) -> tuple[Rewrite, ...]:
        """The fewest rewrites that give a variable a better conditional; none if it is good."""
        now = self._quality(graph, kept, statement) if allowed else CLOSED
        if now <= CONCAVE:
            return ()
        best: tuple[int, tuple[Rewrite, ...]] = (now, ())
        waiting: list[tuple[Rewrite, ...]] = [()]
        for _ in range(MOST_RULES):
            waiting = [
                (*made, *more)
                for made in waiting
                for more in self._more(graph, (*kept, *made), statement, allowed)
            ]
            for made in waiting:
                quality = self._quality(graph, (*kept, *made), statement)
                if quality < best[0]:
                    best = (quality, made)
            if best[0] <= CONCAVE:
                break
        return best[1]

    def _more(
        self,
        graph: Graph,
        kept: tuple[Rewrite, ...],
        statement: Statement,
        allowed: tuple[Rule, ...],
    ) -> Iterator[tuple[Rewrite, ...]]:
        """One more rule applied wherever it fits, whose variables have exact conditionals."""
        target = {statement.target.array.name}
        for rule in allowed:
            made = tuple(applications(_last(graph, kept), _data(self.data, kept), rule, target))
            if made and all(self._is_exact(r) for r in made):
                yield made

    def _is_exact(self, rewrite: Rewrite) -> bool:
        derived = self.derived(rewrite.graph, rewrite.data, rewrite.statement)
        return quality_of(derived) == CLOSED

    def _quality(self, graph: Graph, kept: tuple[Rewrite, ...], statement: Statement) -> int:
        """The quality of a variable's conditional in the best graph that it can be drawn in."""
        return self._home(graph, kept, statement)[0]

    def _home(
        self, graph: Graph, kept: tuple[Rewrite, ...], statement: Statement
    ) -> tuple[int, int]:
        """The best quality of a variable's conditional, and the stage that it is drawn in.

        Closed forms are those of the last stage (which reads the least), others of the first one.
        """
        best = (FALLBACK + 1, 0)
        for stage, (g, data) in enumerate(self._graphs(graph, kept)):
            if stage and _is_tied(kept[stage - 1].statement, statement):
                break
            quality = quality_of(self.derived(g, data, statement))
            if quality < best[0] or quality == CLOSED:
                best = (quality, stage)
        return best

    def _graphs(
        self, graph: Graph, kept: tuple[Rewrite, ...]
    ) -> tuple[tuple[Graph, Mapping[str, Any]], ...]:
        return ((graph, self.data), *((r.graph, r.data) for r in kept))

    def staged(self, graph: Graph, kept: tuple[Rewrite, ...]) -> Rewritten:
        """The stages of a sweep: what comes before each auxiliary variable, and what comes last."""
        homes = {s.name: self._home(graph, kept, s)[1] for s in graph.latent}
        stages = []
        for stage, (g, data) in enumerate(self._graphs(graph, kept)):
            own = (kept[stage - 1].statement,) if stage else ()
            here = (s for s in graph.latent if homes[s.name] == stage)
            drawn = tuple(self.derived(g, data, s) for s in (*own, *here))
            stages.append(Stage(g, drawn, own))
        return Rewritten(_last(graph, kept), _data(self.data, kept), kept, tuple(stages))


def quality_of(derived: Derived) -> int:
    """How good a conditional is, from `CLOSED` to `FALLBACK`."""
    if isinstance(derived, NotConjugate):
        return FALLBACK
    if isinstance(derived, LogConcave):
        return CONCAVE_BY_ELEMENT if derived.elements else CONCAVE
    return CLOSED


def _is_tied(auxiliary: Statement, statement: Statement) -> bool:
    """Whether the values that an auxiliary variable can have depend on a variable."""
    support = auxiliary.support
    array = statement.target.array.name
    return any(
        leaves_of(bound, (array,))
        for bound in (support.lower, support.upper)
        if not isinstance(bound, int | float)
    )
