"""Scans of labels with others integrated out: one after the other, or approximately at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import sympy as sp

from gibbsppl.algebra.columns import columns
from gibbsppl.algebra.columns import indented as further_in
from gibbsppl.algebra.expressions import Expr, Leaf, mentions
from gibbsppl.algebra.functions import INDICATORS
from gibbsppl.algebra.notation import Notation, wrapped
from gibbsppl.code.arrays.expressions import Expr as Value
from gibbsppl.code.elements import made
from gibbsppl.code.labels import shares_lines, shift_text, weights
from gibbsppl.code.lines import INDENT, assigned
from gibbsppl.code.maintained import (
    maintained_functions,
    maintained_name,
    with_maintained,
    writer_of,
)
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Part, Written
from gibbsppl.code.numpy_text.text import PRODUCT, tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.code.places import positions_text
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.labels import LABEL
from gibbsppl.explain.derivation import WIDTH, Derivation
from gibbsppl.model.density import scattered
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Graph, Maintained
from gibbsppl.pieces.dependence import Place
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.densities import label_terms
from gibbsppl.schedule.kinds import LabelDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Formula, Kind

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class ScanDraw(LabelDraw):
    """A draw of labels one after the other, with shared variables integrated out.

    ``kept`` are the arrays that the scan keeps up to date, each as the contributions of factors
    (its statistic is the array's element). ``approximate``: all labels are drawn at once, each as
    that of one more element like it given all labels before, its own among them, which does not
    leave the posterior invariant. They are drawn from the log weights ``at_once``, which read the
    maintained arrays, not the labels; ``exact`` are the log weights that a scan would have, and
    labels that are read by their means. Of a recomputed scan ``terms`` are the terms of the log
    density that it evaluates.
    """

    conditional: Scan
    region: tuple[Place, ...]
    kept: tuple[NaturalParameter, ...]
    at_once: NaturalParameter | None = None
    exact: NaturalParameter | None = None
    terms: tuple[Contribution, ...] = ()
    kind: Kind = "scan"
    in_one_call = True
    returns_array = True
    calls_given_rest = False
    is_from_current = True
    imports = ("math",)

    @classmethod
    def of(cls, derived: object, made: Contributions) -> Self | None:
        """The scan of a label with others integrated out; None for other conditionals."""
        if not isinstance(derived, Scan):
            return None
        own = Contributions(made.graph, derived.kept)
        region = made.region(derived.statement)
        kept = tuple(map(own.maintained, derived.kept))
        if derived.approximate:
            at_once, exact = own.labels_at_once(derived)
            is_drawn = derived.shares is None
            return cls(derived, region, kept, at_once if is_drawn else None, exact)
        terms = own.whole_terms(derived) if derived.recomputed else ()
        return cls(derived, region, kept, terms=terms)

    @property
    def approximate(self) -> bool:
        """Whether all labels are drawn, or read by their means, at once."""
        return self.conditional.approximate

    @property
    def increments(self) -> bool:
        """Whether each draw updates the scan's arrays by its own change."""
        return not self.approximate and not self.conditional.recomputed

    @property
    def maintained(self) -> tuple[Maintained, ...]:
        """The arrays that each draw updates."""
        return self.conditional.kept if self.increments else ()

    @property
    def may_be_coloured(self) -> bool:
        """Labels are drawn one after the other, or all at once."""
        return False

    @property
    def integrated(self) -> str:
        """The names of the variables integrated out."""
        return ", ".join(self.conditional.integrated)

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All that the log weights read, and the arrays that are kept up to date."""
        yield from LabelDraw.expressions(self, graph)
        yield from (term for term, _ in self.conditional.terms)
        yield from (e for a in self.conditional.kept for e in a.expressions)

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The functions of the maintained arrays, of what is drawn, and of all log weights."""
        parts = maintained_functions(module, self)
        if self.exact is not None:
            if self.at_once is not None:
                parts.append(_at_once(module, self, self.at_once))
            parts.append(_exact(module, self, self.exact))
        elif self.increments:
            from gibbsppl.code.scan_loops import scan_loops  # noqa: PLC0415  (if labels are scanned)

            loops = scan_loops(module, self, self.conditional, _scan_name(module, self))
            parts += [loops, _weights(module, self)]
        else:
            parts += [_log_density(module, self), _weights(module, self)]
        return "\n\n\n".join(parts)

    def lower(self, workshop: Workshop) -> None:
        """A scan, element by element; an approximate one, all elements at once."""
        from gibbsppl.code.lowering.scans import lower_at_once, lower_recomputed, lower_scan  # noqa: PLC0415  (if compiled)

        scan = self.conditional
        if self.at_once is not None:
            lower_at_once(workshop, self, scan)
        elif scan.recomputed:
            lower_recomputed(workshop, self, scan, self.terms)
        else:
            lower_scan(workshop, self, scan)

    def lines(self, module: Module) -> list[str]:
        """The scan; arrays that other steps have changed are computed anew before it."""
        name = self.variables[0]
        first = made(module, self)
        if self.approximate:
            shift = shift_text(self.conditional.lower)
            if self.at_once is None:
                given = _exact_call(module, self)
                return [*first, f's["{name}"] = runtime.labels(rng, {given}){shift}']
            drawn = f'runtime.labels_at_once(rng, "{name}", {_scan_name(module, self)}(s, c))'
            return [*first, f's["{name}"] = {drawn}{shift}  # approximate: all at once']
        if not self.increments:
            arguments = ", ".join(_arguments(module, self))
            return [*first, f's["{name}"] = runtime.scan_recomputed(rng, {arguments})']
        names = [p.array for p in self.kept]
        anew = f"s |= {maintained_name(module, self)}(s, c)"
        if _is_carried(module, self):
            first += [f'if "{names[0]}" not in s:', f"{INDENT}{anew}"]
        else:
            first.append(anew)
        kept = ", ".join(f's["{n}"]' for n in names) + ("," if len(names) == 1 else "")
        return [
            *first,
            f's["{name}"] = runtime.scan(',
            *(f"{INDENT}{line}," for line in ("rng", *_arguments(module, self, f"({kept})"))),
            ")",
        ]

    def lines_by_mean(self, module: Module, taken: Any) -> list[str]:
        """The probability of each label, given the expected contributions of all others."""
        names, shape = [m.name for m in taken.moments], module.shape(self.statement)
        return shares_lines(_exact_call(module, self), shape, names, is_each=False)

    def drawing_functions(self, module: Module) -> tuple[str, ...]:
        """The function of the loops, or of the log weights that all labels are drawn from."""
        is_own = self.increments or self.at_once is not None
        return (_scan_name(module, self),) if is_own else ()

    def in_row(self, module: Module) -> dict[str, str]:
        """The recomputing function of arrays kept from sweep to sweep."""
        is_kept = self.increments and _is_carried(module, self)
        return {"kept": maintained_name(module, self)} if is_kept else {}

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The log weight of each label."""
        del drawn
        return label_terms(self, given, values, sizes)

    def log_weights_at_once(self, values: Values, sizes: Sizes) -> Floats:
        """The log weights that all labels are drawn from, by the plain interpreter."""
        assert self.at_once is not None
        values = {**values, **scattered(self.conditional.kept, values, sizes)}
        (found,) = self.at_once.contributions
        over = tuple(p for p in found.place if not isinstance(p, int))  # (all: arrays are whole)
        weights = evaluate(found.value, over, values, {**sizes, LABEL: self.conditional.size})
        return np.broadcast_to(weights, tuple(map(len, over)))

    # Words

    def how(self, graph: Graph) -> str:
        """In which order, and given what."""
        del graph
        if self.conditional.shares is not None:
            return f"all at once, from expected arrays, {self.integrated} integrated out"
        if self.approximate:
            return (
                f"all at once, approximately: each given all labels before, its own among them, "
                f"{self.integrated} integrated out"
            )
        anew = ", computed anew for each label" if self.conditional.recomputed else ""
        return f"one by one, {self.integrated} integrated out{anew}"

    def formula(self, notation: Notation) -> Formula:
        """The log weight of a label."""
        terms = [notation.text(t) for t, _ in self.conditional.terms]
        return "log weight = ", [" + ".join(terms)], ""

    def collected(self, derivation: Derivation) -> list[str]:
        """The variables integrated out, and the contribution of a label to their parameters."""
        text, scan = derivation.notation.text, self.conditional
        marginals = [m for m in derivation.graph.marginals if m.name in scan.integrated]
        rows = [(m.name, text(m.log_density)) for m in marginals]
        found = columns([("integrated out", "its log partition function"), *rows])
        found += ["of arrays that are zero but for what is added to them:"]
        added = [(text(a.element), derivation.scatter(s)) for a in scan.kept for s in a.scatters]
        found += columns(added)
        if scan.recomputed:
            told = f"These are computed anew for each label: {scan.recomputed}."
            return [*found, *wrapped(told, WIDTH)]
        rows = [(text(c.array[c.at]), text(c.value)) for c in scan.changes]
        own = f"an element of {self.statement.target.array}"
        shared = "adds, times the probability of that label"
        told = f"{own} {'with that label adds' if scan.shares is None else shared}:"
        return [*found, told, *columns(rows)]

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The sum of log weights."""
        weights = [f"+ {derivation.notation.text(t)}" for t, _ in self.conditional.terms]
        told = [*derivation.labels(), *further_in(weights)]
        return [("The log weights of the labels", told)]


def _arguments(module: Module, step: ScanDraw, kept: str | None = None) -> list[str]:
    """The arguments of the runtime's scan: loops, labels to draw, maintained arrays."""
    name, lower = step.variables[0], step.conditional.lower
    if not step.increments:
        own = [_scan_name(module, step), "s", "c", f'"{name}"', positions_text(module, step)]
        return [*own, str(lower), str(step.conditional.size)]
    own = [_scan_name(module, step), f's["{name}"]', _fixed_text(module, step)]
    return [*own, kept or f"tuple({maintained_name(module, step)}(s, c).values())"]


def _is_carried(module: Module, step: ScanDraw) -> bool:
    return {p.array for p in step.kept} <= module.carried


def _exact_call(module: Module, step: ScanDraw) -> str:
    """The call of the function of the exact log weights."""
    return f"{module.functions[step.name]}(s, c)"


def _scan_name(module: Module, step: ScanDraw) -> str:
    """The name of the function that draws: of loops, of log weights, or of a log density."""
    if step.approximate:
        return module.function_of(step, "at_once")
    return module.function_of(step, "scan" if step.increments else "log_density")


def _log_density(module: Module, step: ScanDraw) -> str:
    """The log density of all labels together, from arrays that are computed anew."""
    writer, kept = writer_of(module, step), {p.array for p in step.kept}
    own = [t for t in step.terms if not mentions(t.value, kept)]
    rest = [t for t in step.terms if t not in own]
    body: list[str | Part] = [_summed(writer, own, "=")]
    if any(t.value.has(*INDICATORS) for t in own):
        body += ['if not value > -float("inf"):', f"{INDENT}return value"]
    body.append(_summed(writer, rest, "+="))
    name = _scan_name(module, step)
    doc = f"The log density of {step.variables[0]}, {step.integrated} integrated out."
    first = with_maintained(module, step)
    return module.function(name, doc, writer, [*body, "return value"], first)


def _summed(writer: Writer, terms: Sequence[Contribution], operator: str) -> Written:
    """Terms that are added up as a value, or to it."""
    factors = [t.factor for t in terms]
    values = (writer.expr(t.value) for t in terms)
    return Written.of(values, partial(_added_up, factors, operator))


def _added_up(
    factors: Sequence[str], operator: str, writer: Writer, values: Sequence[Value]
) -> list[str]:
    texts = [writer.text(v).within(PRODUCT) for v in values]
    terms = list(zip(texts, factors, strict=True))
    if operator == "=":
        return assigned("value", terms) if terms else ["value = 0.0"]
    return [f"value += {text}  # from {factor}" for text, factor in terms]


def _weights(module: Module, step: ScanDraw) -> str:
    name = module.functions[step.name]
    doc = f"{step.statement.target} | rest but {step.integrated}: log weights (first axis)."
    function = "weighed" if step.increments else "weighed_recomputed"
    size = [str(step.conditional.size)] * step.increments
    code = f"runtime.{function}({', '.join([*_arguments(module, step), *size])})"
    return "\n".join([f"def {name}(s, c):", f'{INDENT}"""{doc}"""', f"{INDENT}return {code}"])


def _at_once(module: Module, step: ScanDraw, parameter: NaturalParameter) -> str:
    """The log weights that all labels are drawn from, as sums of tables where they are such."""
    name, body = _scan_name(module, step), _log_weights(module, step, parameter, as_tables=True)
    doc = f"Log weights (first axis) of one more {step.statement.target} like each, from all."
    return module.function(name, doc, *body, with_maintained(module, step))


def _exact(module: Module, step: ScanDraw, parameter: NaturalParameter) -> str:
    """The log weights of each label given all others."""
    name = module.functions[step.name]
    body = _log_weights(module, step, parameter, as_tables=False)
    doc = f"{step.statement.target} | rest but {step.integrated}: log weights (first axis)."
    return module.function(name, doc, *body, with_maintained(module, step))


def _log_weights(
    module: Module, step: ScanDraw, parameter: NaturalParameter, *, as_tables: bool
) -> tuple[Writer, list[Part]]:
    writer = writer_of(module, step, {LABEL: step.conditional.size})
    return writer, [weights(writer, parameter, as_tables=as_tables)]


def _fixed_text(module: Module, step: ScanDraw) -> str:
    from gibbsppl.code.scan_loops import fixed_arrays  # noqa: PLC0415  (if labels are scanned)

    random = set(module.graph.random)
    scan, entries = step.conditional, []
    read = [t for t, _ in scan.terms] + [e for c in scan.changes for e in (c.value, *c.at)]
    positions = {x.array.name for e in read for i in _indices(e) for x in i.atoms(Leaf)}
    positions |= {x.array.name for c in scan.changes for i in c.at for x in i.atoms(Leaf)}
    for name in fixed_arrays(scan):
        entry = f's["{name}"]' if name in random else f'c["{name}"]'
        if name not in random:
            module.hoisted.arrays.add(name)
        entries.append(f"runtime.positions({entry})" if name in positions else entry)
    entries += map(module.writer(inline={}).size_text, module.scanned[step.name])
    return tuple_text(entries)


def _indices(expr: Expr) -> list[Expr]:
    """All indices of all leaves in an expression."""
    return [i for leaf in sp.sympify(expr).atoms(Leaf) for i in leaf.indices]
