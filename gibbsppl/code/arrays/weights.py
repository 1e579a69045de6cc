"""Labels and counts drawn from weights instead of their logs, where these are logs of products.

``log(phi[k]) + log(theta[k])`` is the log of ``phi[k] * theta[k]``: neither a logarithm nor an
exponential is left. Where digits of the products are lost, they are made from the logs after all.

>>> from gibbsppl.code.arrays.expressions import Element
>>> logs = Apply("+", tuple(Apply("log", (Element(n),)) for n in ("phi", "theta")))
>>> print(as_product(logs), as_product(Apply("exp", (Element("x"),))))
phi * theta None
"""

from __future__ import annotations

from dataclasses import replace
from math import exp

from gibbsppl.code.arrays.costs import is_dear
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Span,
    is_call,
    mapped,
    product,
    total,
    walk,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Argument, Choice, Draw, Let, Loop, Statement, Store
from gibbsppl.code.arrays.sweeps import Sweep, mentions, names_in, spans_in
from gibbsppl.runtime.loops.weights import LANES, OF_WEIGHTS, WITH_SUMS

# The sums of weights, the last 0 if they have lost digits, and how they are made of logs.
SUMMED, FROM_LOGS = "sums_by_lane", "weights_of_logs"


def by_weights(sweep: Sweep) -> Sweep:
    """The sweep, whose draws by logs of products are draws by these products."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    return replace(sweep, statements=_of(sweep.statements, names))


def as_product(logs: Expr) -> Expr | None:
    """The exponential of an expression, if it takes no exponential to compute it."""
    match logs:
        case Number(value=value):
            return replace(logs, value=exp(value))
        case Apply(function="+", arguments=terms):
            factors = [as_product(t) for t in terms]
            known = [f for f in factors if f is not None]
            return product(known) if len(known) == len(factors) else None
        case Apply(function="log", arguments=(argument,)):
            return argument
        case Apply(function="where", arguments=(condition, one, other)):
            chosen = as_product(one), as_product(other)
            if chosen[0] is None or chosen[1] is None:
                return None
            return Apply("where", (condition, *chosen))  # type: ignore[arg-type]  # none is None
    return None


def _of(statements: tuple[Statement, ...], names: Names) -> tuple[Statement, ...]:
    found: list[Statement] = []
    for s in statements:
        match s:
            case Choice():
                found.append(s.of(lambda body: _of(body, names)))
            case Loop():
                found.append(replace(s, body=_of(s.body, names)))
            case Draw() if s.kernel in OF_WEIGHTS:
                found += _by_weights(s, names)
            case _:
                found.append(s)
    return tuple(found)


def _by_weights(s: Draw, names: Names) -> list[Statement]:
    """A draw by weights, element by element; the draw itself if it has to be by logs."""
    logs, *others = s.arguments
    products = as_product(logs.value)
    changed = {t.array for t in s.targets}
    if products is None or is_dear(products) or mentions(logs.value, changed):
        return [s]
    if any(isinstance(e, Reduce) for e in walk(logs.value)) or len(logs.own) != 1:
        return [s]
    weights = Element(names.fresh(f"{s.targets[0].array}_weights"), _along(logs))
    lane = Span(names.fresh("lane"), ZERO, Number(LANES, stays=True))
    ends = Element(names.fresh(f"{weights.array}_ends"), (Position(lane.dim),))
    last = Element(ends.array, (Number(LANES - 1, stays=True),))
    given = Argument(weights, logs.own, as_is=True)
    added_up = Draw((ends,), SUMMED, (given,), own=(lane,), is_random=False)
    from_logs: tuple[Statement, ...] = (
        Store(weights, _logs_apart(logs.value), logs.own),
        Draw((weights,), FROM_LOGS, (), own=logs.own, is_random=False),
        added_up,
    )
    kernel = OF_WEIGHTS[s.kernel]
    sums = (Argument(ends, (lane,), as_is=True),) if kernel in WITH_SUMS else ()
    body: list[Statement] = [
        Let(weights.array, logs.own, products),
        Let(ends.array, (lane,), ZERO, is_empty=True),
        added_up,
        Choice(Apply("equals", (last, ZERO)), ((), from_logs)),
        replace(s, kernel=kernel, arguments=(given, *others, *sums), over=()),
    ]
    return [Loop(s.over, tuple(body), s.note)] if s.over else body


def _along(logs: Argument) -> tuple[Expr, ...]:
    """The position along the labels."""
    return tuple(Position(span.dim) for span in logs.own)


def _logs_apart(logs: Expr) -> Expr:
    """Logs of products as sums of logs, which do not underflow."""

    def apart(e: Expr) -> Expr | None:
        if is_call(e, "log") and is_call(e.parts[0], "*"):
            return total([Apply("log", (f,)) for f in e.parts[0].parts])
        return None

    return mapped(logs, apart)
