"""The search for rewrites: rules tried on variables, and the stages of the sweep that result.

Rules are tried where a variable has no exact conditional, and kept if they help. A rewrite for one
variable alone, by which others would lose, is a *branch*: a graph of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import Expr, Over, leaves_of, mentions
from gibbsppl.analysis.bounds import NONNEGATIVE, known_bounds, sign_of
from gibbsppl.derive.concavity import certified
from gibbsppl.derive.conditionals import Derived, conditional_of
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.derive.quadratic import is_quadratic, quadratic_of
from gibbsppl.derive.second_order import may_climb
from gibbsppl.errors import CompileError
from gibbsppl.model.asked import identity, joined
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import PLAIN, Graph, Statement, expressions_read_by
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.pieces.corrections import is_corrected, without_corrections
from gibbsppl.rewrites.applied import Rewrite, applications, is_tied
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.rewrites.quality import (
    CLOSED,
    CONCAVE,
    CONCAVE_BY_ELEMENT,
    FALLBACK,
    NEAR,
    is_worth_labels,
    quality_of,
    served,
    stage_of,
)
from gibbsppl.rewrites.rows import Rule
from gibbsppl.rewrites.stages import NonCentred, Stage

# How many rules, one after the other, may be tried on one variable.
MOST_RULES = 3
# Conditionals that have been derived, by all that they depend on.
Found = dict[Hashable, tuple[Graph, Values, Derived]]

@dataclass(frozen=True, slots=True, eq=False)
class Rewritten:
    """A model after its rewrites: the last graph, the data with new tables, the stages in order.

    ``branches`` come after the stages: each has an auxiliary variable of its own for one variable,
    in a graph without those of other branches. ``parts`` are arrays that stand for positions of
    others. ``interwoven`` are non-centred updates, each after the other draws of a stage.
    ``leaves`` are arrays with values that nothing else sees, imputed by the last branches.
    """

    graph: Graph
    data: Values
    rewrites: tuple[Rewrite, ...]
    stages: tuple[Stage, ...]
    branches: tuple[Stage, ...] = ()
    parts: tuple[StandIn, ...] = ()
    interwoven: tuple[NonCentred, ...] = ()
    leaves: tuple[str, ...] = ()

    @property
    def qualities(self) -> dict[str, int]:
        """How good the conditional of each array is, by name."""
        found: dict[str, int] = {}
        for derived in (d for stage in (*self.stages, *self.branches) for d in stage.derived):
            name = derived.statement.target.array.name
            if not isinstance(derived, Scan):
                found[name] = max(found.get(name, CLOSED), quality_of(derived))
        return found


def wherever(graph: Graph, data: Values, rule: Rule) -> tuple[Rewrite, ...]:
    """The rewrites by a rule at all terms that fit, latent variable by latent variable."""
    found: list[Rewrite] = []
    factors = [f.name for f in graph.factors]
    for name in graph.drawn:
        made = tuple(applications(graph, data, rule, (name,), factors))
        found += made
        if made:
            graph, data = made[-1].graph, made[-1].data
    return tuple(found)


def _does_not_fit(rule: Rule, graph: Graph, data: Values, latent: Collection[str]) -> str:
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


def _what_is_negative(head: Expr, graph: Graph, data: Values) -> str:
    """The first term of a sum under a head that is not known to be positive or zero."""
    total = head.args[0].body if isinstance(head.args[0], Over) else head.args[0]
    if total.is_Add or total is not head.args[0]:
        for term in Add.make_args(total):
            sign = sign_of(term, known_bounds(graph, data))
            if sign not in NONNEGATIVE:
                may = "may be negative" if sign == "unknown" else "is negative"
                return f", whose term {PLAIN.text(term)} {may}"
    return ""


def _surroundings(graph: Graph, data: Values, statement: Statement) -> Hashable:
    """The key of a conditional: the factors of its array, and the facts of all arrays in them.

    Facts of an array are its statements, whose supports may depend on further arrays, and its data.
    """
    factors = graph.factors_of(statement.target.array)
    said = (e for f in factors for e in expressions_read_by(f))
    waiting = {statement.target.array.name, *(x.array.name for e in said for x in leaves_of(e))}
    read: set[str] = set()
    own: dict[str, Statement] = {}
    while waiting:
        read |= waiting
        own |= {s.name: s for s in graph.statements if s.target.array.name in waiting}
        ends = (sp.sympify(e) for s in own.values() for e in (s.support.lower, s.support.upper))
        waiting = {x.array.name for e in ends for x in leaves_of(e)} - read
    names = sorted(read)
    return (
        statement,
        factors,
        tuple(own.values()),
        tuple(graph.variables.get(n) for n in names),
        tuple(identity(data, n) for n in names),
        graph.constants,
        frozenset(graph.sizes.items()),
    )


def _last(graph: Graph, kept: tuple[Rewrite, ...]) -> Graph:
    return kept[-1].graph if kept else graph


def _data(data: Values, kept: tuple[Rewrite, ...]) -> Values:
    return kept[-1].data if kept else data


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Conditionals, each derived once: a rewrite leaves those of most variables as they are.

    ``found`` has them by graph, and by all that a conditional depends on; and keeps the graphs and
    the data alive, as the identity of a deleted object may be reused. Searches may share it. Of
    ``moved`` variables the user names a kernel: no rewrite is needed; of ``parts``, and ``closed``
    ones, closed forms alone are wanted; ``climbed`` are put to modes; ``named`` ones have a place
    of their own in a sweep, and so are drawn given all that they may be.
    """

    data: Values
    found: Found
    elements: frozenset[str]
    moved: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    climbed: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()

    def derived(self, graph: Graph, data: Values, statement: Statement) -> Derived:
        """The conditional of a statement in a graph."""
        own = graph.statement(statement.name)
        name = own.target.array.name
        how = {"elements": name in self.elements, "certify": name not in self.parts}
        key = (id(graph), own.name, *how.values())
        if key not in self.found:
            around = (_surroundings(graph, data, own), *how.values())
            known = self.found.get(around)
            derived = known[2] if known else self._conditional(graph, own, data, how)
            self.found[key] = self.found[around] = graph, data, derived
        return self.found[key][2]

    def _conditional(
        self, graph: Graph, own: Statement, data: Values, how: Mapping[str, bool]
    ) -> Derived:
        """The conditional; of what corrections see that without them, if it is a joint draw."""
        name = own.target.array.name
        if is_corrected(graph, name) and name not in self.elements | self.parts:
            found = conditional_of(plain := without_corrections(graph), own, data, certify=False)
            if is_quadratic(found) and quadratic_of(plain, (own,), data) is not None:
                return found
        return conditional_of(graph, own, data, **how)

    def asked(self, graph: Graph, rules: tuple[Rule, ...]) -> tuple[Rewrite, ...]:
        """The rewrites by the rules that the user asks for; a rule may fit only after another."""
        kept: tuple[Rewrite, ...] = ()
        waiting = list(rules)
        latent = set(graph.drawn)
        while waiting:
            for rule in waiting:
                found = wherever(_last(graph, kept), _data(self.data, kept), rule)
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
        self, graph: Graph, kept: tuple[Rewrite, ...], statement: Statement,
        allowed: tuple[Rule, ...],
    ) -> tuple[Rewrite, ...]:  # fmt: skip
        """The fewest rewrites that give a variable a better conditional; none if it is good."""
        wanted = allowed and statement.target.array.name not in self.moved
        now = self._quality(graph, kept, statement) if wanted else CLOSED
        is_read = statement.target.array.name in self.closed | self.climbed
        allowed, is_dear = served(allowed, graph, statement, now == CONCAVE and not is_read)
        enough = CLOSED if is_dear else self._enough(graph, statement)
        if now <= enough or self.is_held(graph, statement):
            return ()
        best: tuple[int, tuple[Rewrite, ...]] = (now, ())
        waiting: list[tuple[Rewrite, ...]] = [()]
        for _ in range(MOST_RULES):
            longer = (
                (*made, *more)
                for made in waiting
                for more in self._more(graph, (*kept, *made), statement, allowed)
            )
            # (the same rules in another order make the same model, and a shorter list without a
            # tied variable is tried before)
            found: dict[Hashable, tuple[Rewrite, ...]] = {}
            for made in longer:
                found.setdefault(self._model(made[-1]), made)
            waiting = list(found.values())
            for made in waiting:
                quality = self._quality(graph, (*kept, *made), statement)
                if quality < best[0]:
                    best = (quality, made)
            if best[0] <= enough:
                break
        return best[1]

    def _enough(self, graph: Graph, statement: Statement) -> int:
        """The quality of a conditional that needs no rewrite."""
        name = statement.target.array.name
        if name in self.climbed and may_climb(self.derived(graph, self.data, statement)):
            return CONCAVE_BY_ELEMENT
        return CLOSED if name in self.closed else CONCAVE

    def is_held(self, graph: Graph, statement: Statement) -> bool:
        """Whether a limit of parameters, which no rule changes, forbids any better conditional.

        It is none that the variable can be solved for, and of no convex region.
        """
        derived = self.derived(graph, self.data, statement)
        guards = {p.name for p in graph.potentials if p.guards is not None}
        if not isinstance(derived, NotConjugate):
            return False
        limits = tuple(p for p in derived.pieces if p.factor in guards)
        return bool(limits) and certified(graph, replace(derived, pieces=limits), self.data) is None

    def _model(self, last: Rewrite) -> Hashable:
        """The log densities and the tables that a model has after a rewrite, in no order."""
        tables = ((n, identity(last.data, n)) for n in last.data if n not in self.data)
        densities = ((f.name, f.log_density) for f in last.graph.factors)
        return frozenset(tables), frozenset(densities)

    def _more(
        self,
        graph: Graph,
        kept: tuple[Rewrite, ...],
        statement: Statement,
        allowed: tuple[Rule, ...],
    ) -> Iterator[tuple[Rewrite, ...]]:
        """One more rule applied wherever it fits, whose variables have exact conditionals."""
        name = statement.target.array.name
        for rule in allowed:
            made = tuple(applications(_last(graph, kept), _data(self.data, kept), rule, {name}))
            if made and is_worth_labels(made, name) and all(map(self._is_exact, made)):
                yield made

    def _of_own(self, rewrite: Rewrite) -> Derived:
        """The conditional of the variable that a rewrite adds."""
        return self.derived(rewrite.graph, rewrite.data, rewrite.statement)

    def _is_exact(self, rewrite: Rewrite) -> bool:
        return quality_of(self._of_own(rewrite)) == CLOSED

    def _quality(self, graph: Graph, kept: tuple[Rewrite, ...], statement: Statement) -> int:
        """The quality of a variable's conditional in the best graph that it can be drawn in."""
        return self._home(graph, kept, statement)[0]

    def _home(
        self, graph: Graph, kept: tuple[Rewrite, ...], statement: Statement
    ) -> tuple[int, int]:
        """The best quality of a variable's conditional, and the stage that it is drawn in.

        Of closed forms `stage_of` says which; what is near to one is drawn in the last stage, where
        more can be drawn jointly, others in the first.
        """
        best, closed = (FALLBACK + 1, 0), dict[int, Derived]()
        for stage, (g, data) in enumerate(self._graphs(graph, kept)):
            if stage and is_tied(kept[stage - 1].statement, statement):
                break
            derived = self.derived(g, data, statement)
            quality = quality_of(derived)
            if quality == CLOSED and is_corrected(g, statement.target.array.name):
                quality = NEAR
            if quality == CLOSED:
                closed[stage] = derived
            if quality < best[0] or quality == best[0] <= NEAR:
                best = (quality, stage)
        if not closed:
            return best
        is_named = statement.target.array.name in self.named
        return CLOSED, max(closed) if is_named else stage_of(closed)

    def _graphs(self, graph: Graph, kept: Sequence[Rewrite]) -> tuple[tuple[Graph, Values], ...]:
        return ((graph, self.data), *((r.graph, r.data) for r in kept))

    def branches(
        self, graph: Graph, kept: tuple[Rewrite, ...], allowed: tuple[Rule, ...]
    ) -> dict[str, tuple[Rewrite, ...]] | None:
        """Rewrites for single variables, by statement, where no good conditional exists otherwise.

        None where a part has no closed form: rewrites for other variables are then not tried.
        """
        found: dict[str, tuple[Rewrite, ...]] = {}
        taken = {n for r in kept for n in _names(r.graph)}
        for statement in sorted(graph.latent, key=lambda s: not self._is_part(s)):
            is_part = self._is_part(statement)
            # (without rewrites before it `needed` has tried every rule already)
            if statement.target.array.name in self.moved or not (kept or is_part):
                continue
            good = CLOSED if is_part else CONCAVE
            if self._quality(graph, kept, statement) <= good:
                continue
            if self.is_held(graph, statement):
                if is_part:
                    return None
                continue
            for start, data in reversed(self._graphs(graph, kept)):
                made = self._branch(start, data, statement, allowed, taken)
                if made:
                    found[statement.name] = made
                    taken |= {n for r in made for n in _names(r.graph)}
                    break
            else:
                if is_part:
                    return None
        return found

    def _is_part(self, statement: Statement) -> bool:
        return statement.target.array.name in self.parts

    def _branch(
        self,
        graph: Graph,
        data: Values,
        statement: Statement,
        allowed: tuple[Rule, ...],
        taken: Collection[str],
    ) -> tuple[Rewrite, ...]:
        """One rule that gives a variable a closed form."""
        target = {statement.target.array.name}
        for rule in (r for r in allowed if not r.spares_rejection):
            made = tuple(applications(graph, data, rule, target, taken=taken))
            tied = any(is_tied(r.statement, statement) for r in made)
            if not made or tied:
                continue
            # (the variable itself first: few rules give it a closed form)
            own = self.derived(made[-1].graph, made[-1].data, statement)
            if quality_of(own) == CLOSED and all(self._is_exact(r) for r in made):
                return made
        return ()

    def staged(
        self,
        graph: Graph,
        kept: tuple[Rewrite, ...],
        branches: Mapping[str, tuple[Rewrite, ...]],
    ) -> Rewritten:
        """The model with stages before and after each auxiliary variable, and the branches last."""
        homes = {
            s.name: self._home(graph, kept, s)[1] for s in graph.latent if s.name not in branches
        }
        stages = []
        for stage, (g, data) in enumerate(self._graphs(graph, kept)):
            own = (kept[stage - 1].statement,) if stage else ()
            here = (s for s in graph.latent if homes.get(s.name) == stage)
            drawn = tuple(self.derived(g, data, s) for s in (*own, *here))
            stages.append(Stage(g, drawn, own))
        ends: list[Stage] = []
        for name, made in branches.items():
            ends += [Stage(r.graph, (self._of_own(r),), (r.statement,)) for r in made]
            last = made[-1]
            drawn = (self.derived(last.graph, last.data, graph.statement(name)),)
            ends.append(Stage(last.graph, drawn))
        every = (*kept, *(r for made in branches.values() for r in made))
        data = self.data
        for r in every:
            data = joined(data, r.data)
        return Rewritten(_last(graph, kept), data, every, tuple(stages), tuple(ends))


def _names(graph: Graph) -> set[str]:
    """The names of all arrays and dims."""
    return {*graph.variables, *(d.name for d in graph.sizes)}
