"""Why a conditional has no closed form, and the smallest changes of the model that repair it.

Comes in: a graph, and a statement whose conditional no family owns. Goes out: the family that is
`nearest`, the children without which there would be a family (`diagnoses`), and `Repair` values:
whole graphs, each tried and found to have the conditional. Prior families are found by matching the
terms of the children, never by name. Refusals hold no repairs, so that compiling costs nothing for
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

from gibbsppl.algebra.expressions import Expr, Leaf, mentions
from gibbsppl.algebra.supports import Support
from gibbsppl.analysis.domains import without_spellings
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.matching import match
from gibbsppl.explain.priors import declared, in_code, prior_of, some_value
from gibbsppl.explain.rescaling import Scale, rescaled, scale_of
from gibbsppl.families import FAMILIES, Parameter
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import PLAIN, Factor, Graph, Statement
from gibbsppl.pieces.dependence import is_separable, region_of, touches
from gibbsppl.pieces.elements import element_pieces
from gibbsppl.pieces.gates import Binary, binary_arrays
from gibbsppl.pieces.limits import Limit, limits_of
from gibbsppl.pieces.split import Piece, pieces_of

# Of the rows that could be a prior of a variable as it is, those that are tried: nearest first.
MOST_PRIORS = 6
# How many statistics are left out together in the search for the nearest family.
MOST_LEFT_OUT = 2


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of the model in the user's terms, what to do and write, and the graph after it."""

    text: str
    graph: Graph


@dataclass(frozen=True, slots=True)
class Nearest:
    """The conditional without the offending terms, which are as few as possible."""

    conditional: Conditional
    offending: tuple[Piece, ...]


def repairs(graph: Graph, statement: Statement, data: Values) -> tuple[Repair, ...]:
    """The rewrites under which a statement has a closed form, smallest first; each is tried."""
    graph, statement = without_spellings(graph), replace(statement, spelled=())
    derived = conditional_of(graph, statement, data)
    refusal = derived.refusal if isinstance(derived, LogConcave) else derived
    return tuple(proposed(graph, refusal, data)) if isinstance(refusal, NotConjugate) else ()


def proposed(graph: Graph, refusal: NotConjugate, data: Values) -> Iterator[Repair]:
    """The repairs of a refusal, smallest first, each searched for on demand."""
    search = _Search(graph, refusal, data)
    for _, candidates in CANDIDATES:
        yield from candidates(search)


def tried() -> str:
    """The kinds of repair that were tried without success."""
    return ", ".join(name for name, _ in CANDIDATES)


def nearest(graph: Graph, refusal: NotConjugate, data: Values) -> Nearest | None:
    """The family with the fewest offending statistics, on any scale."""
    forms = tuple(dict.fromkeys(p.statistic for p in refusal.pieces))
    search = _Search(graph, refusal, data)
    for count in range(1, min(MOST_LEFT_OUT, len(forms) - 1) + 1):
        found = []
        for gone in combinations(forms, count):
            conditional = search.matched(p for p in refusal.pieces if p.statistic not in gone)
            if conditional is not None:
                offending = tuple(p for p in refusal.pieces if p.statistic in gone)
                found.append(Nearest(conditional, offending))
        if found:
            return min(found, key=lambda n: _distance(n, refusal.statement))
    return None


def diagnoses(graph: Graph, refusal: NotConjugate, data: Values) -> dict[str, Conditional]:
    """For each child without which a family is found, the conditional without the child."""
    own = refusal.statement.name
    children = dict.fromkeys(p.factor for p in refusal.pieces if p.factor != own)
    several = children if len(children) > 1 else {}
    search = _Search(graph, refusal, data)
    found = {c: search.matched(p for p in refusal.pieces if p.factor != c) for c in several}
    return {name: conditional for name, conditional in found.items() if conditional is not None}


def family_named(conditional: Conditional) -> str:
    """The family of a conditional, with the function of the variable that has this family."""
    truncated = "truncated " if conditional.truncated else ""
    change = conditional.change
    of = "" if change is None else f" of {PLAIN.text(change.forward(conditional.statement.target))}"
    return f"{truncated}{conditional.family.name}{of}"


def _distance(found: Nearest, statement: Statement) -> tuple[bool, bool, int]:
    """The order among families with equally many offending statistics."""
    conditional = found.conditional
    own = conditional.change is None and conditional.family is statement.family
    return not own, conditional.change is not None, len(conditional.statistics)


@dataclass(frozen=True)
class _Search:
    """A refused statement, with the terms and children that candidates for repair are made from."""

    graph: Graph
    refusal: NotConjugate
    data: Values

    @property
    def statement(self) -> Statement:
        """The statement that has no closed form."""
        return self.refusal.statement

    @property
    def array(self) -> str:
        """The name of the statement's array."""
        return self.statement.target.array.name

    @property
    def children(self) -> tuple[Statement, ...]:
        """The other statements that read the array."""
        found = self.graph.factors_of(self.array)
        return tuple(
            f for f in found if isinstance(f, Statement) and f.target.array.name != self.array
        )

    @property
    def is_chain(self) -> bool:
        """Whether the prior of an element reads other elements."""
        return any(mentions(value, (self.array,)) for _, value in self.statement.arguments)

    def priors(self, statement: Statement, support: Support) -> Iterator[Statement]:
        """The statement with each family that can be drawn from on that support."""
        rows = (f for f in FAMILIES.values() if f.natural is not None)
        found = (prior_of(statement, support, f, (), self.graph) for f in rows)
        return (prior for prior in found if prior is not None)

    @cached_property
    def binary(self) -> Binary:
        """The arrays whose elements are 0 or 1."""
        return binary_arrays(self.graph, self.data)

    @cached_property
    def of_children(self) -> Conditional | None:
        """The conditional from the children's terms alone, without a prior."""
        return self.matched(self._without(self.statement.name))

    def matched(
        self, pieces: Iterable[Piece], statement: Statement | None = None
    ) -> Conditional | None:
        """The closed form of an element with these terms, None if there is none."""
        limits, rest = limits_of(pieces)
        if not rest or not all(map(is_separable, rest)):
            return None
        return self._closed(statement or self.statement, rest, limits)

    def _closed(
        self, statement: Statement, pieces: tuple[Piece, ...], limits: tuple[Limit, ...]
    ) -> Conditional | None:
        is_tied = statement.support.is_tied
        found = match(
            self.graph,
            statement,
            pieces if is_tied else element_pieces(pieces),
            limits,
            tuple("batch" for _ in statement.target.indices),
            self.data,
            elements=self.refusal.elements and not is_tied,
        )
        return found if isinstance(found, Conditional) else None

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """All terms of the conditional, also where terms of different factors cancel."""
        return self._pieces_of(*self.graph.factors_of(self.array))

    def pieces_with(self, factor: Factor) -> tuple[Piece, ...]:
        """The terms, with a factor in place of its namesake."""
        return (*self._without(factor.name), *self._pieces_of(factor))

    def _without(self, factor: str) -> tuple[Piece, ...]:
        return tuple(p for p in self.pieces if p.factor != factor)

    def _pieces_of(self, *factors: Factor) -> tuple[Piece, ...]:
        region = region_of(self.graph, self.statement)
        found = pieces_of(factors, self.statement, self.graph.sizes, self.binary)
        return tuple(p for p in found if any(touches(v, p.over, region) for v in p.views))

    def repair(self, text: str, factor: Statement, *lines: str) -> Repair | None:
        """The graph with one statement replaced, if the conditional then has a closed form."""
        own = factor if factor.name == self.statement.name else self.statement
        if self.matched(self.pieces_with(factor), own) is None:
            return None
        statements = (factor if s.name == factor.name else s for s in self.graph.statements)
        graph = replace(self.graph, statements=tuple(statements))
        return self.tried(text, graph, own.name, *lines)

    def tried(self, text: str, graph: Graph, name: str, *lines: str) -> Repair | None:
        """The graph as a repair, if the statement of that name has a closed form in it."""
        graph, unread = _without_unread(graph, self.statement)
        if unread:
            text += f", without {', '.join(unread)}"
        derived = conditional_of(graph, graph.statement(name), self.data)
        if not isinstance(derived, Conditional):
            return None
        return Repair("\n  ".join((f"{text} (then {family_named(derived)})", *lines)), graph)


def _without_unread(graph: Graph, before: Statement) -> tuple[Graph, tuple[str, ...]]:
    """The graph without parameters of a former prior that nothing reads any more; their names."""
    unread: list[str] = []
    priors = [before]
    while priors:
        prior = priors.pop()
        for s in graph.latent:
            name = s.target.array.name
            is_parameter = any(mentions(value, (name,)) for _, value in prior.arguments)
            if is_parameter and s.known == 0 and set(graph.factors_of(name)) <= {s}:
                priors.append(s)
                unread.append(name)
                graph = _dropped(graph, s)
    return graph, tuple(unread)


def _dropped(graph: Graph, statement: Statement) -> Graph:
    """The graph without a variable that no factor reads."""
    name = statement.target.array.name
    return replace(
        graph,
        variables={n: v for n, v in graph.variables.items() if n != name},
        statements=tuple(s for s in graph.statements if s is not statement),
        deterministics=tuple(d for d in graph.deterministics if not mentions(d.value, (name,))),
    )


Candidates = Callable[[_Search], Iterator[Repair]]


# ---- another prior ---------------------------------------------------------------------------


def _other_priors(search: _Search) -> Iterator[Repair]:
    """Repairs by the prior conjugate to the children, else by the best matching prior."""
    statement, found = search.statement, search.of_children
    if found is None or search.is_chain:
        return
    if found.change is None:
        owner = prior_of(statement, statement.support, found.family, found.known, search.graph)
        yield from _with_prior(search, owner)
        return
    plain = sorted(
        search.priors(statement, statement.support), key=lambda p: _foreign(search, p)
    )
    fitting = [
        (len(conditional.statistics), n)
        for n, prior in enumerate(plain[:MOST_PRIORS])
        if (conditional := search.matched(search.pieces_with(prior), prior)) is not None
    ]
    for _, n in sorted(fitting)[:1]:
        yield from _with_prior(search, plain[n])


def _with_prior(search: _Search, prior: Statement | None) -> Iterator[Repair]:
    if prior is not None:
        text = f"give {prior.name} {_with_article(prior.family.name)} prior"
        if (repair := search.repair(text, prior, declared(prior, search.graph))) is not None:
            yield repair


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOU' else 'a'} {noun}"


def _foreign(search: _Search, prior: Statement) -> tuple[int, int]:
    """How many terms a prior has that the children lack, and how many it has."""
    known = {p.statistic for p in search.refusal.pieces if p.factor != prior.name}
    own = [p for p in search.pieces_with(prior) if p.factor == prior.name]
    return sum(p.statistic not in known for p in own), len(own)


# ---- a function of the variable as the variable ----------------------------------------------


def _functions_of_it(search: _Search) -> Iterator[Repair]:
    """A prior on a function of the variable: a child's argument, or what the terms suggest."""
    statement, graph = search.statement, search.graph
    mine = graph.statements_of(search.array)
    fixed = any(c.target.array.name == search.array for c in graph.constants)
    if fixed or len(mine) > 1 or statement.known != 0 or statement.event or search.is_chain:
        return
    for scale in _scales(search):
        if (repair := _on_scale(search, scale)) is not None:
            yield repair


def _scales(search: _Search) -> Iterator[Scale]:
    """Candidate scales, each once: arguments of children, then changes suggested by terms."""
    target, support = search.statement.target, search.statement.support
    seen = set()
    for child in search.children:
        for name, value in child.arguments:
            parameter = child.family.parameters[name]
            own = name if name not in search.graph.variables else f"u_{search.array}"
            scale = scale_of(own, value, search.array, support, parameter.support)
            if scale is not None and not parameter.event and scale.forward(target) not in seen:
                seen.add(scale.forward(target))
                yield scale
    change = None if search.of_children is None else search.of_children.change
    if change is not None and not change.given and change.forward(target) not in seen:
        new = change.variable(target, support, search.graph.variables)
        name, image = new.array.name, change.mapped(support)
        yield Scale(name, change.forward, change.backward, image)


def _on_scale(search: _Search, scale: Scale) -> Repair | None:
    """The graph in which a function of the variable is declared, and the variable follows."""
    statement = search.statement
    new = scale.array[statement.target.indices]
    drawn = replace(statement, name=scale.name, target=new, arguments=(), lower=None, upper=None)
    draft = next((p for p in search.priors(drawn, scale.support)), None)
    if draft is None:
        return None
    graph = rescaled(search.graph, statement, scale, draft)
    factors = (f for f in graph.factors_of(scale.array) if f.name != scale.name)
    found = search.matched(pieces_of(factors, draft, graph.sizes, search.binary), draft)
    if found is None or found.change is not None:
        return None
    prior = prior_of(drawn, scale.support, found.family, found.known, graph)
    if prior is None:
        return None
    graph = rescaled(search.graph, statement, scale, prior)
    lines = (
        declared(prior, graph),
        f"{search.array} = {in_code(scale.backward(scale.array[()]))}",
    )
    function = PLAIN.text(scale.forward(statement.target))
    return search.tried(f"declare {function} as the variable", graph, prior.name, *lines)


# ---- without a truncation, with an argument known --------------------------------------------


def _without_truncation(search: _Search) -> Iterator[Repair]:
    """Without a bound of the variable's own statement, or of a child's."""
    for statement in (search.statement, *search.children):
        given = [n for n in ("lower", "upper") if getattr(statement, n) is not None]
        for names in ([n] for n in given) if len(given) < 2 else ([given[0]], [given[1]], given):
            bounds: dict[str, Any] = dict.fromkeys(names)
            text = f"without {' and '.join(f'{n}=' for n in names)} of {statement.name}"
            if (repair := search.repair(text, replace(statement, **bounds))) is not None:
                yield repair
                break


def _with_one_argument_known(search: _Search) -> Iterator[Repair]:
    """Repairs with a number for the variable in one of several arguments of a child."""
    own = search.statement.support
    value = some_value(Parameter(own), 0, (), search.graph) if own.kind == "real" else None
    if value is None:
        return
    for child in search.children:
        reading = [n for n, v in child.arguments if mentions(v, (search.array,))]
        for name in reading if len(reading) > 1 else ():
            arguments = tuple(
                (n, _at(v, search.array, value) if n == name else v) for n, v in child.arguments
            )
            text = f"if {name} of {child.name} did not depend on {search.array}"
            if (repair := search.repair(text, replace(child, arguments=arguments))) is not None:
                yield repair


def _at(expr: Expr, array: str, value: Expr) -> Expr:
    """The expression with a value for every element of an array."""
    return expr.xreplace({a: value for a in expr.atoms(Leaf) if a.array.name == array})


# In the order in which they are tried.
CANDIDATES: tuple[tuple[str, Candidates], ...] = (
    ("another prior", _other_priors),
    ("a function of it", _functions_of_it),
    ("no truncation", _without_truncation),
    ("a known argument", _with_one_argument_known),
)
