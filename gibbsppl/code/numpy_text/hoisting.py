"""Values that generated code computes once, in ``prepare``: their names and lines."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from gibbsppl.code.arrays.expressions import Expr, Reduce, walk
from gibbsppl.code.names import Names
from gibbsppl.code.numpy_text.text import Text


@dataclass(slots=True)
class Hoisted:
    """Values computed once: the name by expression and ranges, and the lines of ``prepare``.

    ``sizes`` are the names of the sizes of dims that the module reads, by dim, ``fixed`` the dims
    whose sizes it has as numbers;
    ``last`` are values that functions of the module compute from all other values, in a dict ``c``;
    ``positions`` names the arrays used as indices; ``functions`` are the functions of recursions:
    name, argument arrays, dims of which the sizes are arguments, source.
    """

    names: Names
    known: dict[tuple[object, ...], Text] = field(default_factory=dict)
    lines: list[tuple[str, str, str]] = field(default_factory=list)
    sizes: dict[str, str] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    last: list[tuple[str, str, str]] = field(default_factory=list)
    arrays: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    positions: set[str] = field(default_factory=set)
    functions: dict[Hashable, tuple[str, tuple[str, ...], tuple[str, ...], str]] = field(
        default_factory=dict
    )

    def add(
        self,
        key: tuple[object, ...],
        stem: str,
        make: Callable[[], Text],
        comment: str,
        *,
        is_position: bool = False,
    ) -> Text:
        """The name of a value, computed in ``prepare`` by the text that ``make`` returns.

        A value used as an index (``is_position``) is of whole numbers.
        """
        if key not in self.known:
            text = make()
            name = self.names.fresh(stem)
            # A number of Python's own: arithmetic of arrays with it is faster than with NumPy's.
            number = not text.dims and not isinstance(key[0], str)
            made = "int" if is_position else "float"
            self.lines.append((name, f"{made}({text.code})" if number else text.code, comment))
            self.known[key] = Text(name, text.dims)
        return self.known[key]

    def add_all(
        self, key: tuple[object, ...], stems: list[str], make: Callable[[], Text], comment: str
    ) -> list[str]:
        """The names of several values that one call in ``prepare`` returns."""
        if key not in self.known:
            code = make().code
            names = ", ".join(map(self.names.fresh, stems))
            self.lines.append((names, code, comment))
            self.known[key] = Text(names)
        return self.known[key].code.split(", ")

    def add_last(self, key: tuple[object, ...], stem: str, code: str, comment: str) -> str:
        """The name of a value that a text computes from the dict ``c`` of all others."""
        if key not in self.known:
            name = self.names.fresh(stem)
            self.last.append((name, code, comment))
            self.known[key] = Text(name)
        return self.known[key].code

    def size(self, dim: str) -> str:
        """The name of the size of a dim."""
        if dim not in self.sizes:
            self.sizes[dim] = self.names.called("size", dim, like=f"n_{dim}")
        return self.sizes[dim]

    @property
    def all_names(self) -> list[str]:
        """The names of all values that ``prepare`` computes."""
        return [name for names, _, _ in self.lines for name in names.split(", ")]


def stem_of(expr: Expr) -> str:
    """A telling name for a hoisted expression, made of its arrays, with ``sum`` for a sum."""
    sums = any(isinstance(e, Reduce) and e.by in {"sum", "log_sum_exp"} for e in walk(expr))
    return "_".join((["sum"] if sums else []) + sorted(expr.arrays)[:3]) or "positions"
