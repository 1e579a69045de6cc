"""Arrays that are added up, as lines: one sum with comments, or zeros and additions to places.

Comes in: a `Let`, and the `Add`s that follow it. Goes out: lines, each with its factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from gibbsppl.code.arrays.expressions import Expr, Number, Position, Span
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.lines import assigned, is_product
from gibbsppl.code.lowering.contributions import bounded, contributed
from gibbsppl.code.numpy_text.functions import Added
from gibbsppl.code.numpy_text.text import slice_text, tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.schedule.parameters import Bound, NaturalParameter


def parameter_part(writer: Writer, name: str, parameter: NaturalParameter, *, full: bool) -> Added:
    """One natural parameter, from the contributions of the factors.

    ``full``: the parameter must have all axes, even without a contribution that depends on them.
    """
    with writer.arranged(parameter.axes):
        let, adds = contributed(writer, parameter, name)
    return Added(let, adds, partial(sum_lines, full=full))


def bound_part(writer: Writer, bound: Bound, *, full: bool) -> Added:
    """One side of a truncated draw: the tightest bound of all factors."""
    with writer.arranged(bound.axes):
        let, adds = bounded(writer, bound)
    return Added(let, adds, partial(extreme_lines, full=full))


def sum_lines(writer: Writer, let: Let, adds: Sequence[Add], *, full: bool) -> list[str]:
    """Lines of an array of zeros to which something is added."""
    on_diagonal = [a for a in adds if _is_on_diagonal(a)]
    others = [a for a in adds if not _is_on_diagonal(a)]
    dims, is_plain = _dims(let), all(is_everywhere(writer, let, a) for a in others)
    with writer.arranged(dims), writer.held.sum(writer.bytes_of, () if is_plain else dims):
        if is_plain:
            lines = _summed(writer, let, others, full=full)
        else:
            lines = [f"{let.name} = {writer.call('zeros')}({_shape(writer, let)})"]
            lines += [_added(writer, let, a) for a in others]
        return lines + _with_diagonal(writer, let, on_diagonal)


def extreme_lines(writer: Writer, let: Let, adds: Sequence[Add], *, full: bool) -> list[str]:
    """Lines of an array that is made the largest, or the smallest, of several values."""
    tightest = writer.call("maximum" if any(a.by == "max" for a in adds) else "minimum")
    every = [a for a in adds if is_everywhere(writer, let, a)]
    rest = [a for a in adds if a not in every]
    dims = _dims(let)
    with writer.arranged(dims), writer.held.sum(writer.bytes_of):
        codes = [writer.align(writer.text(a.value), dims) for a in every]
        code = codes[0] if codes else writer.text(let.value).code
        for other in codes[1:]:
            code = f"{tightest}({code}, {other})"
        factors = _factors(every)
        lines = [f"{let.name} = {code}" + (f"  # from {factors}" if factors else "")]
        if (full or rest) and dims:
            shape = _shape(writer, let)
            lines.append(f"{let.name} = {writer.call('broadcast_to')}({let.name}, {shape})")
            lines += [f"{let.name} = {let.name}.astype(float)"] * bool(rest)
        for a in rest:
            at = let.name + _index(writer, let, a)
            lines.append(f"{at} = {tightest}({at}, {_value(writer, a)})  # from {a.note}")
    return lines


def is_everywhere(writer: Writer, let: Let, add: Add) -> bool:
    """Whether something is added to all positions of an array."""
    here = tuple(Position(d) for d in _dims(let))
    return add.indices == here and all(
        writer.positions(s) == range(writer.size(s.dim)) for s in add.over
    )


def _dims(let: Let) -> tuple[str, ...]:
    return tuple(s.dim for s in let.dims)


def _shape(writer: Writer, let: Let) -> str:
    return tuple_text(writer.count_text(s.dim, writer.positions(s)) for s in let.dims)


def _factors(adds: Iterable[Add]) -> str:
    return ", ".join(dict.fromkeys(a.note for a in adds))


def _summed(writer: Writer, let: Let, adds: Sequence[Add], *, full: bool) -> list[str]:
    """Lines that add up contributions, each of which goes to every position."""
    dims = _dims(let)
    texts = [(writer.text(a.value), a.note) for a in adds]
    terms = [(writer.align(t, dims), factor) for t, factor in texts] or [("0.0", "")]
    lines = assigned(let.name, terms)
    complete = {d for t, _ in texts for d in t.dims} == set(dims)
    if full and dims and not complete:
        shape = _shape(writer, let)
        lines.append(f"{let.name} = {writer.call('broadcast_to')}({let.name}, {shape})")
    return lines


def _value(writer: Writer, add: Add) -> str:
    """The value that is added, along the axes on which it goes to more than one position."""
    ranged = tuple(i.dim for i in add.indices if isinstance(i, Position))
    with writer.over(add.over):
        return writer.align(writer.text(add.value), ranged)


def _added(writer: Writer, let: Let, add: Add) -> str:
    """A line that adds a contribution where it goes to."""
    code = _value(writer, add)
    operator = "-=" if code.startswith("-") and " + " not in code and " - " not in code else "+="
    code = code[1:] if operator == "-=" else code
    return f"{let.name}{_index(writer, let, add)} {operator} {code}  # from {add.note}"


def _index(writer: Writer, let: Let, add: Add) -> str:
    """Where something is added; empty for the whole array."""
    parts = []
    for own, (start, stop) in zip(let.dims, _ends(writer, add), strict=True):
        size = len(writer.positions(own))
        parts.append(str(start) if stop is None else slice_text(start, stop, size))
    while parts and parts[-1] == ":":
        parts.pop()
    return f"[{', '.join(parts)}]" if parts else ""


def _ends(writer: Writer, add: Add) -> list[tuple[int, int | None]]:
    """The first position and the last but one of each axis; without the latter a single one."""
    spans = {s.dim: writer.positions(s) for s in add.over}
    found: list[tuple[int, int | None]] = []
    for i in add.indices:
        if isinstance(i, Number):
            found.append((int(i.value), None))
        else:
            assert isinstance(i, Position)
            found.append((spans[i.dim].start, spans[i.dim].stop))
    return found


def _is_on_diagonal(add: Add) -> bool:
    """Whether a position stands for two axes; a single element is a place as any other."""
    along = [i for i in add.indices if isinstance(i, Position)]
    return len(set(along)) < len(along)


def _with_diagonal(writer: Writer, let: Let, adds: Sequence[Add]) -> list[str]:
    """Lines that add the coefficients of squares to the diagonal of those of pairs."""
    by_place: dict[tuple[tuple[Expr, ...], tuple[Span, ...]], list[Add]] = {}
    for a in adds:
        by_place.setdefault((a.indices, a.over), []).append(a)
    lines = []
    for (indices, over), found in by_place.items():
        own = tuple(dict.fromkeys(indices))
        dims = tuple(i.dim for i in own if isinstance(i, Position))
        with writer.over(over):
            codes = [writer.align(writer.text(a.value), dims) for a in found]
        value = " + ".join(map(_as_term, codes)) if len(codes) > 1 else codes[0]
        whole = all(writer.positions(s) == range(writer.size(s.dim)) for s in over)
        at = "" if whole and len(dims) == len(own) else f", {_slices(writer, found[0], len(own))}"
        call = f"{writer.call('plus_diagonal')}({let.name}, {value}, {len(indices) - len(own)}{at})"
        lines.append(f"{let.name} = {call}  # from {_factors(found)}")
    return lines


def _slices(writer: Writer, add: Add, count: int) -> str:
    """The place of the first axes as a tuple of slices."""
    shown = []
    for (start, stop), index in zip(_ends(writer, add)[:count], add.indices, strict=False):
        if stop is None or not isinstance(index, Position):
            shown.append(f"slice({start}, {start + 1})")
        else:
            shown.append(f"slice({start}, {writer.end_text(index.dim, stop)})")
    return tuple_text(shown)


def _as_term(code: str) -> str:
    """The text as a term of a sum."""
    return code if is_product(code) and not code.startswith("-") else f"({code})"
