"""The natural parameters of one colour of a large lattice at a time, read by strided slices.

Comes in: a step drawn by a pattern of colours. Goes out: a generator function that yields, for each
call of the sweep, the elements drawn and only their parameters. Terms with the same coefficient are
added up before multiplication; functions of data alone are computed once. The parameters of all
elements, ``*_given_rest``, are written, too: the checks compare the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf, dims_of
from gibbsppl.algebra.functions import Equals
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.axes import named
from gibbsppl.code.numpy_text.text import PRODUCT, Text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.code.places import colours_name
from gibbsppl.derive.colours import Pattern, colours_told
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.labels import LABEL
from gibbsppl.pieces.dependence import Place, bounds_of
from gibbsppl.runtime.places import pattern_colours
from gibbsppl.schedule.kinds import Single
from gibbsppl.schedule.parameters import NaturalParameter

# Arrays of fewer elements are drawn as fast from the parameters of all elements.
LEAST_ELEMENTS = 1 << 12
# Calls in a sweep, each of which has lines of its own.
MOST_CALLS = 16


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions read along an axis, and the positions of the readers in the call."""

    read: slice
    own: slice | int


@dataclass(frozen=True, slots=True)
class Extent:
    """The axes and the shape of a parameter in one call; ``lead`` are axes that no element has."""

    axes: tuple[Dim, ...]
    lead: tuple[Dim, ...]
    shape: tuple[int, ...]

    @property
    def own(self) -> tuple[Dim, ...]:
        """The axes of the array that is drawn."""
        return self.axes[len(self.lead) :]


# A contribution, its part that varies over elements, and the positions.
Term = tuple[Contribution, Expr, tuple[Positions, ...]]


def name_by_colour(module: Module, step: Single) -> str | None:
    """The name of a step's generator; None if each call computes all parameters."""
    if not step.plain_parameters or not isinstance(step.colours, Pattern):
        return None
    elements = 1
    for p in step.region:
        elements *= 1 if isinstance(p, int) else len(p)
    plain = step.statement.known == 0 and step.is_coloured
    if not plain or elements < LEAST_ELEMENTS or len(_calls(step)) > MOST_CALLS:
        return None
    contributions = [c for p in step.plain_parameters for c in p.contributions]
    axes = set(module.dims(step.statement))
    if not all(_is_plain(c.value, axes) for c in contributions):
        return None
    return module.function_of(step, "by_colour")


def _calls(step: Single) -> list[tuple[slice, ...]]:
    assert isinstance(step.colours, Pattern)
    place = tuple(map(bounds_of, step.region))
    return pattern_colours(place, step.colours.steps, step.colours.count)


def _is_plain(value: Expr, axes: set[Dim]) -> bool:
    """Whether a value is read at the elements alone: no sum goes along their axes."""
    return not any(axes & dims_of(b) for b in value.atoms(Binder)) and not any(
        isinstance(b, Dim) and b in axes for e in value.atoms(Equals) for b in e.args
    )


def by_colour(module: Module, step: Single, name: str) -> str:
    """The generator: for each call where it draws, and the parameters there."""
    extra = {} if step.labels is None else {LABEL: len(step.labels)}
    writer = module.writer(extra)
    module.hold_sizes(module.dims(step.statement))
    calls = writer.constant(colours_name(module, step))
    body: list[str] = []
    for n, call in enumerate(_calls(step)):
        names = []
        for j, parameter in enumerate(step.plain_parameters, 1):
            eta = f"eta_{j}" if step.labels is None else "log_weights"
            names.append(eta)
            few = _lines_of_few(writer, eta, step, parameter, call)
            body += few or _lines(writer, eta, parameter, call)
        etas = f"({', '.join(names)}{',' if len(names) == 1 else ''})"
        body.append(f"yield {calls}[{n}], {etas}")
    doc = f"{step.statement.target} | rest, {colours_told(step.colours)}: for each call where it "
    doc += "draws, and what from."
    return module.function(name, doc, writer, body)


def _lines(
    writer: Writer, eta: str, parameter: NaturalParameter, call: tuple[slice, ...]
) -> list[str]:
    """Lines that compute a parameter for the elements of one call."""
    extent = _extent(writer, parameter, call)
    free = _by_factor(writer, parameter, call)
    lines: list[str] = []
    terms: list[str] = []
    for n, (factor, group) in enumerate(free.items(), 1):
        known = [t for t in group if writer.is_data(t[1])]
        if known:
            total = _known(writer, eta, known, extent)
            terms.append(_times(writer, factor, total))
        rest_of_group = [t for t in group if t not in known]
        if rest_of_group:
            total = writer.names.of(f"·total_{n}")
            lines += _totalled(writer, total, rest_of_group, extent)
            terms.append(_times(writer, factor, total))
    if not terms:
        terms = [f"{writer.call('zeros')}({extent.shape})"]
    return [*lines, f"{eta} = {' + '.join(terms)}"]


def _extent(writer: Writer, parameter: NaturalParameter, call: tuple[slice, ...]) -> Extent:
    """The axes and the shape of a parameter in a call, arranged in the writer."""
    axes = parameter.axes
    writer.order = {}
    writer.arrange(axes)
    lead = axes[: len(axes) - len(call)]
    shape = (*map(writer.size, lead), *(len(range(s.start, s.stop, s.step)) for s in call))
    return Extent(axes, lead, shape)


def _by_factor(
    writer: Writer, parameter: NaturalParameter, call: tuple[slice, ...]
) -> dict[Expr, list[Term]]:
    """The terms of a parameter on the elements of a call, grouped by common factor."""
    axes, found = parameter.axes, dict[Expr, list[Term]]()
    for c in parameter.contributions:
        parts = _parts(c.place[len(axes) - len(call) :], call)
        for term in sp.Add.make_args(c.value) if parts is not None else ():
            assert parts is not None
            factor, rest = (sp.S.One, term) if writer.is_data(term) else _parted(term, axes)
            found.setdefault(factor, []).append((c, rest, parts))
    return found


def _lines_of_few(
    writer: Writer,
    eta: str,
    step: Single,
    parameter: NaturalParameter,
    call: tuple[slice, ...],
) -> list[str]:
    """Lines for log odds of gates of the form: number times a count of gates, plus data.

    Empty for log odds of another form.
    """
    support = step.statement.support
    extent = _extent(writer, parameter, call)
    if not support.is_binary or parameter.statistic != step.statement.target or extent.lead:
        return []
    groups = _by_factor(writer, parameter, call)
    known = groups.pop(sp.S.One, [])
    if len(groups) != 1 or not all(writer.is_data(rest) for _, rest, _ in known):
        return []
    ((factor, group),) = groups.items()
    own = step.statement.target.array
    if not all(isinstance(rest, Leaf) and rest.array == own for _, rest, _ in group):
        return []
    zero = f"{writer.call('zeros')}({extent.shape})"
    placed = [_placed(writer, rest, parts, extent) for _, rest, parts in known]
    code = f"runtime.KnownLogOdds({' + '.join(placed) or zero}, {len(group)})"
    comment = "for one call: what depends on data alone, and the largest count"
    key = ("few", eta, code)
    made = Text(code, named(extent.axes))
    name = writer.constant(writer.hoisted.add(key, f"{eta}_known", lambda: made, comment).code)
    count = writer.names.of("·count")
    lines = [f"{count} = {name}.start()"]
    lines += [_added(writer, count, term, extent) for term in group]
    return [*lines, f"{eta} = {name}.log_odds({_number(writer, factor)}, {count})"]


def _known(writer: Writer, eta: str, group: Sequence[Term], extent: Extent) -> str:
    """The name of the sum of terms that read data alone, each where it is."""
    code = " + ".join(_placed(writer, rest, parts, extent) for _, rest, parts in group)
    comment = "for one call: what depends on data alone"
    made, key = Text(code, named(extent.axes)), ("known", eta, code)
    return writer.constant(writer.hoisted.add(key, f"{eta}_known", lambda: made, comment).code)


def _parted(term: Expr, axes: Iterable[Dim]) -> tuple[Expr, Expr]:
    """The factor of a term common to all elements, and the factor that varies over elements."""
    own = [f for f in Mul.make_args(term) if dims_of(f) & set(axes)]
    shared = [f for f in Mul.make_args(term) if f not in own]
    return Mul(*shared), Mul(*own)


def _times(writer: Writer, factor: Expr, total: str) -> str:
    return total if factor == 1 else f"{_number(writer, factor)} * {total}"


def _number(writer: Writer, factor: Expr) -> str:
    """The text of a common factor; numbers as floats, which multiply faster than integers."""
    return repr(float(factor)) if factor.is_Rational else writer.write(factor).within(PRODUCT)


def _totalled(writer: Writer, total: str, group: Sequence[Term], extent: Extent) -> list[str]:
    """Lines that add up terms with the same coefficient, each at its positions."""
    whole = all(_is_whole_number(writer, rest) for _, rest, _ in group)
    kind = ", int" if whole else ""
    first = f"{total} = {writer.call('zeros')}({extent.shape}{kind})"
    return [first, *(_added(writer, total, term, extent) for term in group)]


def _added(writer: Writer, total: str, term: Term, extent: Extent) -> str:
    """The line that adds a term to a total, where it is."""
    contribution, rest, parts = term
    at = _index([*(slice(None) for _ in extent.lead), *(p.own for p in parts)], extent.shape)
    code = _read(writer, rest, parts, extent)
    return f"{total}{at} += {code}  # from {contribution.factor}"


def _is_whole_number(writer: Writer, rest: Expr) -> bool:
    return isinstance(rest, Leaf) and writer.graph.variables[rest.array.name].integer


def _read(writer: Writer, rest: Expr, parts: tuple[Positions, ...], extent: Extent) -> str:
    """The text of a value at the positions that are read."""
    own = list(zip(extent.own, parts, strict=True))
    with writer.along({a.name: _range(p.read) for a, p in own}):
        text = writer.write(rest)
    return writer.align(text, (*extent.lead, *(a for a, p in own if isinstance(p.own, slice))))


def _range(positions: slice) -> range:
    return range(positions.start, positions.stop, positions.step)


def _placed(writer: Writer, term: Expr, parts: tuple[Positions, ...], extent: Extent) -> str:
    """The text, for ``prepare``, of a value of data at its place among the elements of a call."""
    inner = writer.for_prepare(writer.graph)
    inner.order = dict(writer.order)
    with inner.along({a.name: _range(p.read) for a, p in zip(extent.own, parts, strict=True)}):
        code = inner.align(inner.write(term), extent.axes)
    writer.hoisted.arrays |= inner.constant_names
    first = len(extent.lead)
    place = [(0, n) for n in extent.shape[:first]]
    for part, n in zip(parts, extent.shape[first:], strict=True):
        own = part.own
        place.append((own, own + 1) if isinstance(own, int) else own.indices(n)[:2])
    return f"{writer.call('placed')}({code}, {tuple(place)}, {extent.shape})"


def _parts(place: tuple[Place, ...], call: tuple[slice, ...]) -> tuple[Positions, ...] | None:
    """A place among the elements of a call, axis by axis; None where it has none of them."""
    found = []
    for p, s in zip(place, call, strict=True):
        every = range(s.start, s.stop, s.step)
        if isinstance(p, int):
            if p not in every:
                return None
            found.append(Positions(slice(p, p + 1, 1), every.index(p)))
            continue
        inside = [x for x in every if p.start <= x < p.stop]
        if not inside:
            return None
        first, last = every.index(inside[0]), every.index(inside[-1])
        own = slice(first, last + 1)
        found.append(Positions(slice(inside[0], inside[-1] + 1, s.step), own))
    return tuple(found)


def _index(own: Sequence[slice | int], shape: tuple[int, ...]) -> str:
    """An index as text, empty where it is everything."""
    codes = []
    for o, n in zip(own, shape, strict=True):
        if isinstance(o, int):
            codes.append(str(o))
            continue
        start, stop, _ = o.indices(n)
        codes.append(f"{start or ''}:{stop if stop != n else ''}")
    while codes and codes[-1] == ":":
        codes.pop()
    return f"[{', '.join(codes)}]" if codes else "[:]"
