"""Expressions of one element as plain Python, in the subset that Numba compiles."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NoReturn

import sympy as sp
from sympy.printing.str import StrPrinter

from gibbsppl.algebra.expressions import Dim, Expr, InverseEntry, Leaf, LogDet, Over, dims_of
from gibbsppl.algebra.functions import FUNCTIONS
from gibbsppl.algebra.near_one import beyond_one
from gibbsppl.algebra.ranges import Range, range_of, size_of
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.module import Module
from gibbsppl.derive.labels import LABEL
from gibbsppl.errors import CompileError
from gibbsppl.pieces.vanishing import continuous_arrays, weighted
from gibbsppl.schedule.kinds import Single


def for_line(printer: Loops, r: Range) -> str:
    """The head of the loop over a range."""
    start = f"{r.start}, " if r.start else ""
    return f"for {printer.position(r.dim)} in range({start}{r.stop}):"


class Loops(StrPrinter):
    """Prints expressions of one element as Python; sums and determinants take separate lines."""

    printmethod = "_loops"

    def __init__(self, module: Module, step: Single) -> None:
        super().__init__()
        self.module = module
        self.of = step.variables[0]
        graph = module.schedule.graph_of(step)
        self.sizes = graph.sizes
        self.continuous = continuous_arrays(graph)
        self.kept = {p.array for p in step.kept}
        self.levels: list[tuple[set[Dim], list[str], dict[Expr, str]]] = []
        self.numbers = count(1)
        self.squares: list[int] = []

    def lines(self, before: str, expr: Expr, *dims: Dim) -> list[str]:
        """The line ``before expr``, after the lines that compute parts of the expression.

        ``dims`` are the dims of the loop around the lines.
        """
        self.levels.append((set(dims), [], {}))
        text = self.doprint(expr)
        _, first, _ = self.levels.pop()
        return [*first, f"{before} {text}"]

    def _first(self, expr: Expr, write: Callable[[], tuple[list[str], str]]) -> str:
        """The name of an expression whose lines are hoisted as far out of the loops as possible."""
        free, level = dims_of(expr), len(self.levels) - 1
        while level > 0 and not self.levels[level][0] & free:
            level -= 1
        _, lines, known = self.levels[level]
        if expr not in known:
            inner, self.levels[level + 1 :] = self.levels[level + 1 :], []
            found, known[expr] = write()
            lines += found
            self.levels += inner
        return known[expr]

    def position(self, dim: Expr) -> str:
        """The name of the loop's variable along a dim."""
        return self.module.names.of(f"at {dim}")

    def _print_Leaf(self, leaf: Leaf) -> str:  # noqa: N802
        name = self.module.names.of(leaf.array.name)
        indices = leaf.indices
        if leaf.array.name in self.kept and not indices:
            return f"{name}[0]"  # (an array, so that it can be changed in place)
        return name + "".join(f"[{self._print(i)}]" for i in indices)

    def _print_Dim(self, dim: Dim) -> str:  # noqa: N802
        return "$label" if dim == LABEL else self.position(dim)

    def _print_Pi(self, _expr: Expr) -> str:  # noqa: N802
        return repr(float(sp.pi))

    def _print_Infinity(self, _expr: Expr) -> str:  # noqa: N802
        return "math.inf"

    def _print_NegativeInfinity(self, _expr: Expr) -> str:  # noqa: N802
        return "-math.inf"

    def _print_Pow(self, expr: Any, **_: Any) -> str:  # noqa: N802
        base, power = expr.as_base_exp()
        if power == -1:
            return f"1.0/({self._print(base)})"
        return f"({self._print(base)})**({self._print(power)})"

    def _print_Equals(self, expr: Expr) -> str:  # noqa: N802
        first, second = map(self._print, expr.args)
        return f"({first} == {second})"

    def _print_Below(self, expr: Expr) -> str:  # noqa: N802
        first, second = map(self._print, expr.args)
        return f"({first} < {second})"

    def _print_AtMost(self, expr: Expr) -> str:  # noqa: N802
        first, second = map(self._print, expr.args)
        return f"({first} <= {second})"

    def _print_Mul(self, expr: Expr) -> str:  # noqa: N802
        first, *others = weighted(sp.Mul.make_args(expr), self.continuous)
        return super()._print_Mul(expr) if others else self._print(first)

    def _print_Weighted(self, expr: Expr) -> str:  # noqa: N802
        weight, x = map(self._print, expr.args)
        return f"(({weight})*({x}) if ({weight}) != 0 else 0.0)"

    def _print_XLogY(self, expr: Expr) -> str:  # noqa: N802
        count, log = self._print(expr.args[0]), self._print_log(sp.log(expr.args[1]))
        return f"(({count})*{log} if ({count}) != 0 else 0.0)"

    def _print_Where(self, expr: Expr) -> str:  # noqa: N802
        chosen, yes, no = map(self._print, expr.args)
        return f"({yes} if {chosen} else {no})"

    def _print_Function(self, expr: Expr) -> str:  # noqa: N802
        row = FUNCTIONS.get(expr.func)
        if row is None or not row.loop:
            self._refuse(type(expr).__name__)
        return row.loop.format(*map(self._print, expr.args))

    _print_exp = _print_loggamma = _print_Function

    def _print_log(self, expr: Expr) -> str:
        (x,) = expr.args
        if (rest := beyond_one(x)) is not None:
            code = self._print(rest)
            return f"(math.log1p({code}) if {code} > -1.0 else -math.inf)"
        plain = self._print_Function(expr)
        # (Python has no log of zero, which a label that is impossible may lead to)
        return plain if x.is_positive else f"({plain} if {self._print(x)} > 0.0 else -math.inf)"

    def emptyPrinter(self, expr: Expr) -> str:  # noqa: N802  (SymPy's name)
        """Raise for an expression that the loops cannot compute."""
        return str(expr) if isinstance(expr, str) else self._refuse(type(expr).__name__)

    def _print_Over(self, expr: Over) -> str:  # noqa: N802
        return self._first(expr, lambda: self._summed(expr))

    def _summed(self, expr: Over) -> tuple[list[str], str]:
        total, r = f"$sum_{next(self.numbers)}", range_of(expr, self.sizes)
        body = self.lines(f"{total} +=", expr.body, r.dim)
        return [f"{total} = 0.0", for_line(self, r), *indented(body)], total

    def _print_LogDet(self, expr: LogDet) -> str:  # noqa: N802
        return self._first(expr, lambda: self._log_det(expr))

    def _log_det(self, expr: LogDet) -> tuple[list[str], str]:
        """The log determinant by the Cholesky factor, made in place in a scratch matrix."""
        n, square, lines = self._filled(expr)
        total = f"$logdet_{next(self.numbers)}"
        entry = [
            f"$entry = {square}[$i][$j]",
            "for $m in range($j):",
            f"{INDENT}$entry -= {square}[$i][$m] * {square}[$j][$m]",
            "if $i > $j:",
            f"{INDENT}{square}[$i][$j] = $entry / {square}[$j][$j]",
            "else:",
            f"{INDENT}$entry = $entry if $entry > 0.0 else math.nan  # not positive definite",
            f"{INDENT}{square}[$i][$i] = math.sqrt($entry)",
            f"{INDENT}{total} += math.log($entry)",
        ]
        loops = [
            f"for $i in range({n}):",
            *indented(["for $j in range($i + 1):", *indented(entry)]),
        ]
        return [*lines, f"{total} = 0.0", *loops], total

    def _print_InverseEntry(self, expr: InverseEntry) -> str:  # noqa: N802
        matrix = LogDet(expr.body, *expr.bound)
        name = self._first(
            InverseEntry(expr.body, *expr.bound, sp.S.Zero, sp.S.Zero),
            lambda: self._inverted(matrix),
        )
        row, column = map(self._print, expr.args[3:])
        return f"{name}[{row}][{column}]"

    def _inverted(self, matrix: LogDet) -> tuple[list[str], str]:
        """The inverse of a matrix by sweeping it in place, row by row."""
        n, square, lines = self._filled(matrix)
        swept = [
            f"$entry = 1.0 / {square}[$m][$m]",
            f"for $j in range({n}):",
            f"{INDENT}{square}[$m][$j] *= $entry",
            f"for $i in range({n}):",
            f"{INDENT}if $i != $m:",
            f"{INDENT * 2}$factor = {square}[$i][$m]",
            f"{INDENT * 2}for $j in range({n}):",
            f"{INDENT * 3}{square}[$i][$j] -= $factor * {square}[$m][$j]",
            f"{INDENT * 2}{square}[$i][$m] = -$factor * $entry",
            f"{square}[$m][$m] = $entry",
        ]
        return [*lines, f"for $m in range({n}):", *indented(swept)], square

    def _filled(self, matrix: LogDet) -> tuple[int, str, list[str]]:
        """The size of a matrix, the name of a scratch array, and the lines that fill the array."""
        n = size_of(matrix.bound[0], self.sizes)
        square = f"$square_{len(self.squares) + 1}"
        self.squares.append(n)
        i, j = map(self.position, matrix.bound)
        body = self.lines(f"{square}[{i}][{j}] =", matrix.body, *matrix.bound)
        loops = [f"for {i} in range({n}):", *indented([f"for {j} in range({n}):", *indented(body)])]
        return n, square, loops

    def _refuse(self, what: str) -> NoReturn:
        raise CompileError(
            f"collapse: the scan of {self.of} would need {what} in its loops, which it cannot "
            "write; leave collapse= out."
        )
