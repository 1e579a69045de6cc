"""Whole numbers among expressions over arrays.

>>> from gibbsppl.algebra.expressions import Dim
>>> k = Variable("k", (Dim("n"),), "random", integer=True)
>>> here = Element("k", (Position("n"),))
>>> is_count(Apply("+", (here, Number(2))), {"k": k}), is_count(here, {})
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf

from gibbsppl.code.arrays.expressions import Apply, Element, Expr, Number, Position, Reduce, Size
from gibbsppl.model.graph import Variable

# Functions that are whole numbers where their arguments are; of integers, and of counts.
OF_INTEGERS = frozenset(("+", "*", "neg", "**"))
OF_COUNTS = frozenset(("+", "*", "neg", "maximum", "minimum"))


def is_whole(e: Expr, variables: Mapping[str, Variable]) -> bool:
    """Whether a value is made of integers alone: a position, whose power may overflow.

    (Of what is no array of the model, the new variable of a change say, nothing is known.)
    """
    match e:
        case Element(array=array):
            v = variables.get(array)
            return v is not None and v.integer and (v.kind != "data" or v.of is not None)
        case Number(value=value):
            return isinstance(value, int)
        case Position() | Size():
            return True
        case Apply(function=function):
            return function in OF_INTEGERS and all(is_whole(a, variables) for a in e.arguments)
        case Reduce(body=body):
            return is_whole(body, variables)
    return False


def is_count(e: Expr, variables: Mapping[str, Variable]) -> bool:
    """Whether an expression of whole numbers is certain to be one, or infinite."""
    match e:
        case Element(array=array):
            return array in variables and variables[array].integer
        case Number(value=value):
            return isinstance(value, int) or isinf(value)
        case Position() | Size():
            return True
        case Apply(function="where", arguments=(_, *branches)):
            return all(is_count(b, variables) for b in branches)
        case Apply(function="**", arguments=(base, Number(value=int(value)))):
            return value > 0 and is_count(base, variables)
        case Apply(function=function):
            return function in OF_COUNTS and all(is_count(a, variables) for a in e.arguments)
        case Reduce(by=by, body=body):
            return by in {"sum", "max", "min"} and is_count(body, variables)
    return False
