"""Terms that vary over elements through a single index: tables, looked up by the elements.

Comes in: a term, ``log(theta[user[n], k])`` say, and the dims of the elements, ``n``. Goes out: the
table ``log(theta[a, k])`` with the index ``user[n]`` at which an element reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of, substitute
from gibbsppl.code.writer import Writer


@dataclass(frozen=True, slots=True)
class Gather:
    """A table, ``value`` over ``along`` and other dims, read at the ``index`` of each element."""

    factor: str
    value: Expr
    along: Dim
    size: int
    index: Expr


def as_table(writer: Writer, factor: str, term: Expr, elements: frozenset[Dim]) -> Gather | None:
    """The term as a table, if it varies over elements through a single index; else None."""
    found = {
        (index, writer.sizes[writer.axes_of(leaf.array.name)[axis]])
        for leaf in term.atoms(Leaf)
        for axis, index in enumerate(leaf.indices)
        if isinstance(index, Leaf) and dims_of(index)
    }
    if len(found) != 1:
        return None
    ((index, size),) = found
    along = Dim(f"along {index}")
    value = substitute(term, {index: along})
    # An index that is summed over within the term is no property of the element.
    is_own = dims_of(index) <= elements and not dims_of(value) & elements
    return Gather(factor, value, along, size, index) if is_own else None


def written(
    writer: Writer, table: Gather, axes: tuple[Dim, ...], elements: tuple[Dim, ...]
) -> tuple[str, str]:
    """The text of a table along ``axes``, and of its index along the dims of ``elements``."""
    sizes = writer.sizes
    writer.sizes, writer.order = {**sizes, table.along: table.size}, {}
    writer.arrange((*axes, *elements))
    values = writer.align(writer.write(table.value), axes)
    index = writer.align(writer.write(table.index), elements)
    writer.sizes = sizes
    return values, index
