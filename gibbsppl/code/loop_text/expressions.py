"""Expressions of one position as Python, in the part of it that Numba compiles."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import inf, isnan

from gibbsppl.code.arrays.expressions import (
    BINDS,
    RELATIONS,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Size,
    infix,
    number,
)
from gibbsppl.code.names import Names
from gibbsppl.errors import NotLoweredError
from gibbsppl.runtime import loops

# What NumPy and compiled code compute to the same last digit, and names of others that do so.
OF_NUMPY = frozenset(("abs", "sqrt", "float64"))
OTHER_NAMES = {"exp": "exp_of"}
# Functions of which a processor computes several at once, along lanes; of one number others are
# faster.
IN_LANES = {"exp": "exp_in_lane", "softplus": "softplus_in_lane", "expit": "expit_in_lane"}


@cache
def kernels() -> Mapping[str, str]:
    """The module of `gibbsppl.runtime.loops` that has a kernel, by the name of the kernel."""
    found: dict[str, str] = {}
    for info in pkgutil.iter_modules(loops.__path__):
        module = importlib.import_module(f"{loops.__name__}.{info.name}")
        own = vars(module).items()
        here = (n for n, f in own if getattr(f, "__module__", "") == module.__name__)
        found |= dict.fromkeys((n for n in here if not n.startswith("_")), info.name)
    return found


@dataclass(slots=True)
class Writer:
    """The names of arrays and dims in a function, and the kernels that it calls."""

    names: Names
    used: set[str] = field(default_factory=set)
    lanes: frozenset[str] = frozenset()

    def array(self, name: str) -> str:
        """The name of an array."""
        return self.names.called("array", name, like=name)

    def dim(self, name: str) -> str:
        """The name of the position along a dim."""
        return self.names.called("dim", name, like=name)

    def size(self, name: str) -> str:
        """The name of the size of a dim."""
        return self.names.called("size", name, like=f"n_{name}")

    def kernel(self, name: str) -> str:
        """The name of a kernel, which the module imports."""
        if name not in kernels():
            raise NotLoweredError(f"no kernel of loops has the name {name}.")
        self.used.add(name)
        return name

    def element(self, e: Element, own: frozenset[str] = frozenset()) -> str:
        """An element of an array, or an array over dims of a kernel's ``own``."""
        shown = [
            ":" if isinstance(i, Position) and i.dim in own else self.text(i) for i in e.indices
        ]
        name = self.array(e.array)
        return name if all(s == ":" for s in shown) else f"{name}[{', '.join(shown)}]"

    def text(self, expr: Expr, level: int = 0) -> str:
        """The text of an expression; in parentheses where what is around it binds more strongly."""
        match expr:
            case Number(value=value):
                return _number(value, level)
            case Size(dim=dim):
                return self.size(dim)
            case Position(dim=dim, shift=shift):
                shown = f"{self.dim(dim)} {'-' if shift < 0 else '+'} {abs(shift)}"
                return (f"({shown})" if level > 1 else shown) if shift else self.dim(dim)
            case Element():
                return self.element(expr)
            case Reduce():
                raise NotLoweredError(f"a reduction that no pass has made an array: {expr}.")
            case Apply():
                return self.applied(expr, level)
        raise TypeError(expr)

    def applied(self, expr: Apply, level: int) -> str:
        """The text of a function of arguments."""
        function, arguments = expr.function, expr.arguments
        if function == "**" and arguments[1] == Number(2):
            return self.square(arguments[0], level)
        if function in BINDS:
            shown = infix(function, arguments, self.text)
            return f"({shown})" if BINDS[function] < level else shown
        if function == "where":
            condition, yes, no = arguments
            shown = f"{self.text(yes, 1)} if {self.condition(condition)} else {self.text(no, 1)}"
            return f"({shown})"
        if function in RELATIONS or function == "and":
            return f"(1.0 if {self.condition(expr)} else 0.0)"
        called = ", ".join(map(self.text, arguments))
        if function == "smaller":
            return f"min({called})"
        if function in OF_NUMPY:
            return f"np.{function}({called})"
        own = IN_LANES if expr.free & self.lanes else OTHER_NAMES
        return f"{self.kernel(own.get(function, OTHER_NAMES.get(function, function)))}({called})"

    def square(self, base: Expr, level: int) -> str:
        """A square, its base computed once."""
        if isinstance(base, Element):
            shown = self.element(base)
            return f"({shown} * {shown})" if level > BINDS["*"] else f"{shown} * {shown}"
        return f"{self.kernel('square')}({self.text(base)})"

    def condition(self, expr: Expr) -> str:
        """The text of a condition."""
        match expr:
            case Apply(function="and", arguments=arguments) | Apply(
                function="*", arguments=arguments
            ):
                return " and ".join(self.condition(a) for a in arguments)
            case Apply(function=function, arguments=(a, b)) if function in RELATIONS:
                return f"{self.text(a, 1)} {RELATIONS[function]} {self.text(b, 1)}"
        return f"{self.text(expr, 1)} != 0"


def _number(value: float, level: int) -> str:
    if value in (inf, -inf) or isnan(value):
        shown = "np.nan" if isnan(value) else "np.inf" if value > 0 else "-np.inf"
    else:
        shown = number(value)
    return f"({shown})" if shown.startswith("-") and level > 1 else shown
