"""The text of a scan's loops: arrays of arrays, which may be lists, and Python's own functions.

(Without Numba loops are interpreted, and Python reads lists faster than entries of arrays.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isinf, isnan

from gibbsppl.algebra.functions import FUNCTIONS
from gibbsppl.code.arrays.expressions import Apply, Element, Expr, Number, Position, at
from gibbsppl.code.arrays.statements import Draw
from gibbsppl.code.arrays.storage import Local
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.loop_text.expressions import Writer
from gibbsppl.code.loop_text.statements import Lines
from gibbsppl.code.names import Names
from gibbsppl.errors import NotLoweredError

# Functions with a limit where Python has an error, and those that Python has no name for.
FORMS: Mapping[str, str] = {
    "weighted": "(({0}) * ({1}) if ({0}) != 0 else 0.0)",
    "log": "(math.log({0}) if ({0}) > 0.0 else -math.inf)",
    "log1p": "(math.log1p({0}) if ({0}) > -1.0 else -math.inf)",
    "xlogy": "(({0}) * (math.log({1}) if ({1}) > 0.0 else -math.inf) if ({0}) != 0 else 0.0)",
    "xlog1py": "(({0}) * (math.log1p({1}) if ({1}) > -1.0 else -math.inf) if ({0}) != 0 else 0.0)",
    "log_one_minus_exp": "(math.log(-math.expm1({0})) if ({0}) < 0.0 else -math.inf)",
    "log_add_exp": "(max({0}, {1}) + math.log1p(math.exp(-abs(({0}) - ({1}))))"
    " if ({0}) != ({1}) else {0} + math.log(2.0))",
    "log_rising": "(math.lgamma(({0}) + ({1})) - math.lgamma({0}))",
    "log_beta": "(math.lgamma({0}) + math.lgamma({1}) - math.lgamma(({0}) + ({1})))",
    "sqrt": "math.sqrt({0})",
    "abs": "abs({0})",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
}


@dataclass(slots=True)
class ScanWriter(Writer):
    """The names of a scan's function; ``given`` arrays are arguments, ``numbers`` without axes.

    ``sizes`` are the names of the sizes of dims that are arguments, too.
    """

    function: str = ""
    given: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    sizes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: Names,
        function: str,
        given: Sequence[str],
        numbers: Collection[str],
    ) -> ScanWriter:
        """The writer of a function."""
        numbers = frozenset(numbers)
        return cls(names, function=function, given=tuple(given), numbers=numbers)

    def named(self, name: str) -> str:
        """A name that holds within the function."""
        return self.names.called("in", self.function, name, like=name.strip("·"))

    def array(self, name: str) -> str:
        """The name of an array."""
        return self.names.of(name) if name in self.given else self.named(name)

    def dim(self, name: str) -> str:
        """The name of the position along a dim, or of a position that lines make."""
        return name[1:] if name.startswith("·") else self.named(f"at {name}")

    def size(self, name: str) -> str:
        """The name of the size of a dim, which is an argument."""
        if name not in self.sizes:
            self.sizes[name] = self.named(f"n_{name}")
        return self.sizes[name]

    def kernel(self, name: str) -> str:
        """Raise for a function that plain loops have not."""
        raise NotLoweredError(f"plain loops have no {name}.")

    def element(self, e: Element, own: frozenset[str] = frozenset()) -> str:
        """An element: of an argument by one index after the other."""
        if e.array in self.numbers:
            return f"{self.array(e.array)}[0]"
        if e.array not in self.given and not e.array.startswith("·"):
            return Writer.element(self, e, own)
        return self.array(e.array) + "".join(f"[{self.text(i)}]" for i in e.indices)

    def text(self, expr: Expr, level: int = 0) -> str:
        """The text of an expression; in parentheses where what is around it binds more strongly."""
        match expr:
            case Number(value=value) if isinf(value):
                shown = "math.inf" if value > 0 else "-math.inf"
                return f"({shown})" if value < 0 and level > 1 else shown
            case Number(value=value) if isnan(value):
                return "math.nan"
        return Writer.text(self, expr, level)

    def applied(self, expr: Apply, level: int) -> str:
        """The text of a function of arguments."""
        form = FORMS.get(expr.function) or _plain_functions().get(expr.function)
        if form is None:
            return Writer.applied(self, expr, level)
        return form.format(*map(self.text, expr.arguments))

    def square(self, base: Expr, level: int) -> str:
        """A square."""
        del level
        return f"({self.text(base)})**2"

    def room(self, name: str, local: Local) -> str:
        """The line that makes a new array."""
        sizes = "".join(f"{self.text(d.stop)}, " for d in local.dims).rstrip()
        kind = ", int" if local.type == "int" else ""
        return f"{self.array(name)} = empty(({sizes}){kind})"


@cache
def _plain_functions() -> Mapping[str, str]:
    """How Python writes functions, by their names in NumPy."""
    return {row.numpy: row.loop for row in FUNCTIONS.values() if row.loop}


class ScanLines(Lines):
    """The lines of a scan's function, with small matrices factorised in place."""

    def drawn(self, s: Draw) -> list[str]:
        """The log determinant of a matrix by its Cholesky factor, or the inverse by sweeping it.

        Or the solution of equations, which are overwritten, by elimination.
        """
        makers: Mapping[str, Callable[[Draw], list[str]]] = {
            "logdet": self._log_det,
            "inverse": self._inverted,
            "solution": self._solved,
        }
        if s.kernel not in makers:
            return super().drawn(s)
        return makers[s.kernel](s)

    def _names(self, *names: str) -> list[str]:
        writer = self.writer
        assert isinstance(writer, ScanWriter)
        return [writer.named(n) for n in names]

    def _log_det(self, s: Draw) -> list[str]:
        rows, columns = (x.dim for x in s.arguments[0].own)
        i, j, k, entry = self._names("i", "j", "k", "entry")
        matrix = s.arguments[0].value
        found = self.writer.element(s.targets[0])
        size = self.writer.text(s.arguments[0].own[0].stop)

        def of(row: str, column: str) -> str:
            return self._entry(matrix, rows, columns, row, column)

        inner = [
            f"{entry} = {of(i, j)}",
            f"for {k} in range({j}):",
            f"{INDENT}{entry} -= {of(i, k)} * {of(j, k)}",
            f"if {i} > {j}:",
            f"{INDENT}{of(i, j)} = {entry} / {of(j, j)}",
            "else:",
            f"{INDENT}{entry} = {entry} if {entry} > 0.0 else math.nan  # not positive definite",
            f"{INDENT}{of(i, i)} = math.sqrt({entry})",
            f"{INDENT}{found} += math.log({entry})",
        ]
        loops = [f"for {j} in range({i} + 1):", *indented(inner)]
        return [f"{found} = 0.0", f"for {i} in range({size}):", *indented(loops)]

    def _inverted(self, s: Draw) -> list[str]:
        rows, columns = (x.dim for x in s.arguments[0].own)
        i, j, k, entry, factor = self._names("i", "j", "k", "entry", "factor")
        size = self.writer.text(s.arguments[0].own[0].stop)

        def of(row: str, column: str) -> str:
            return self._entry(s.targets[0], rows, columns, row, column)

        copied = f"{of(i, j)} = {self._entry(s.arguments[0].value, rows, columns, i, j)}"
        swept = [
            f"{entry} = 1.0 / {of(k, k)}",
            f"for {j} in range({size}):",
            f"{INDENT}{of(k, j)} *= {entry}",
            f"for {i} in range({size}):",
            f"{INDENT}if {i} != {k}:",
            f"{INDENT * 2}{factor} = {of(i, k)}",
            f"{INDENT * 2}for {j} in range({size}):",
            f"{INDENT * 3}{of(i, j)} -= {factor} * {of(k, j)}",
            f"{INDENT * 2}{of(i, k)} = -{factor} * {entry}",
            f"{of(k, k)} = {entry}",
        ]
        filled = [f"for {j} in range({size}):", f"{INDENT}{copied}"]
        return [
            *(f"for {i} in range({size}):", *indented(filled)),
            *(f"for {k} in range({size}):", *indented(swept)),
        ]

    def _solved(self, s: Draw) -> list[str]:
        matrix, right = s.arguments
        rows, columns = (x.dim for x in matrix.own)
        i, j, k, entry = self._names("i", "j", "k", "entry")
        size = self.writer.text(matrix.own[0].stop)

        def of(row: str, column: str) -> str:
            return self._entry(matrix.value, rows, columns, row, column)

        def element(vector: Expr, dim: str, place: str) -> str:
            return self._entry(vector, dim, dim, place, place)

        known, found = right.own[0].dim, s.own[0].dim
        here, above = (element(right.value, known, place) for place in (i, k))
        eliminated = [
            f"for {i} in range({k} + 1, {size}):",
            f"{INDENT}{entry} = {of(i, k)} / {of(k, k)}",
            f"{INDENT}for {j} in range({k} + 1, {size}):",
            f"{INDENT * 2}{of(i, j)} -= {entry} * {of(k, j)}",
            f"{INDENT}{here} -= {entry} * {above}",
        ]
        solved = [
            f"{entry} = {above}",
            f"for {j} in range({k} + 1, {size}):",
            f"{INDENT}{entry} -= {of(k, j)} * {element(s.targets[0], found, j)}",
            f"{element(s.targets[0], found, k)} = {entry} / {of(k, k)}",
        ]
        return [
            *(f"for {k} in range({size}):", *indented(eliminated)),
            *(f"for {k} in range({size} - 1, -1, -1):", *indented(solved)),
        ]

    def _entry(self, matrix: Expr, rows: str, columns: str, row: str, column: str) -> str:
        """An entry of a matrix, at names of positions."""
        found = at(matrix, {rows: Position(f"·{row}"), columns: Position(f"·{column}")})
        assert isinstance(found, Element)
        return self.writer.element(found)
