"""The signature and the docstring of a distribution, from its row.

Comes in: a family. Goes out: an `inspect.Signature` for completion, and a text for `help`.

>>> from gibbsppl.families import FAMILIES
>>> print(signature_of(FAMILIES["Laplace"]))
(name, /, mu, *, rate=..., scale=..., lower=None, upper=None, dims=None, event=None, \
observed=None, missing=None, of=None)
>>> print(docstring_of(FAMILIES["Exponential"]).partition("Declares")[0])
The exponential distribution; ``scale`` is the mean.
<BLANKLINE>
Parameters: rate; or scale with rate = 1/scale.
    rate   (0, oo)
    scale  (0, oo)
Values: (0, oo).
Log density: log(rate) - rate*x
Mean: 1/rate
Variance: 1/rate**2
Exponential family, with the statistics x.
<BLANKLINE>
<BLANKLINE>
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter as Argument
from inspect import Signature, signature

import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf
from gibbsppl.algebra.functions import Below, Where
from gibbsppl.algebra.notation import Notation, wrapped
from gibbsppl.algebra.supports import Support
from gibbsppl.families import Family
from gibbsppl.language.distributions import (
    BOUNDS,
    OPTIONS,
    by_position,
    can_be_truncated,
    spellings,
)

WIDTH = 92
EVENT = Dim("k")
SIZE = 3
ABOUT_DECLARING = (
    "Declares a variable and returns its tensor; without a name, returns a distribution, to be "
    "assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable{event}. "
    "``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the "
    "value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros."
    "{bounds} Errors are `gp.ModelError`."
)
# A parameter of an example: a number, a vector or a matrix.
Example = float | Sequence[float] | Sequence[Sequence[float]] | Expr

# Values of supports whose entries are tied to one another, for examples.
TIED: Mapping[str, Example] = {
    "simplex": [0.2, 0.3, 0.5],
    "sphere": [1, 0, 0],
    "spd": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
}
ABOUT_EVENT = (
    "",
    ", and ``event`` the one along which a value is a vector, if there are others",
    ", and ``event`` the two along which a value is a matrix, if there are others",
)


class _Open:
    """The default of a parameter that some spellings do not have."""

    def __repr__(self) -> str:
        return "..."


_OPEN = _Open()


def signature_of(family: Family) -> Signature:
    """A name, the parameters of all spellings, and what a variable takes beside them.

    By position stand those that may do so in the canonical spelling.
    """
    ways = spellings(family)
    shared = set(ways[0]).intersection(*ways)
    start = by_position(family, ways[0])
    names = dict.fromkeys(n for way in ways for n in way)
    defaults = {n: family.defaults.get(n, Argument.empty if n in shared else _OPEN) for n in names}
    taken = {*names} if can_be_truncated(family) else {*names, *BOUNDS}
    options = [o for o in OPTIONS if o not in taken]
    return Signature(
        [
            Argument("name", Argument.POSITIONAL_ONLY),
            *(Argument(n, Argument.POSITIONAL_OR_KEYWORD, default=defaults[n]) for n in start),
            *(
                Argument(n, Argument.KEYWORD_ONLY, default=defaults[n])
                for n in names
                if n not in start
            ),
            *(Argument(o, Argument.KEYWORD_ONLY, default=None) for o in options),
        ]
    )


def docstring_of(family: Family) -> str:
    """The docstring: meaning, parameters, values, density and moments, and an example."""
    values = {n: _element(n, p.event) for n, p in family.parameters.items()}
    event = _event(family)
    x = _element("x", family.event)
    ways = f"Parameters: {'; or '.join(_ways(family, event)) or 'none'}."
    lines = [
        *textwrap.wrap(family.about, WIDTH, break_on_hyphens=False),
        "",
        *textwrap.wrap(ways, WIDTH, subsequent_indent="    "),
        *_parameters(family),
        f"Values: {_support(family.support(event, **values), family.event)}.",
        *_formula("Log density", family.log_density(x, event, **values)),
    ]
    if family.mean is not None:
        lines += _formula("Mean", family.mean(event, **values))
    if family.variance is not None:
        lines += _formula("Variance", family.variance(event, **values))
    lines += [*_natural(family, x, event), "", *_declaring(family), "", *_example(family)]
    return "\n".join(lines)


def _element(name: str, event: int) -> Leaf:
    """One element of an array: a scalar, or an entry of a vector or of a matrix."""
    return Array(name)[(EVENT, primed(EVENT))[:event]]


def _event(family: Family) -> tuple[Dim, ...]:
    """The event dims of a value; of a label, the dim that its probabilities have."""
    deepest = max((family.event, *(p.event and 1 for p in family.parameters.values())))
    return (EVENT, primed(EVENT))[:deepest]


def _ways(family: Family, event: tuple[Dim, ...]) -> Iterator[str]:
    """Each spelling, with the canonical parameters as functions of its own."""
    for way in spellings(family):
        spell = family.spellings.get(way)
        own = {n: _element(n, family.written[n].event) for n in way}
        takes_event = spell is not None and "event" in signature(spell).parameters
        found = spell(**own, **({"event": event} if takes_event else {})) if spell else own
        told = [f"{n} = {_text(v)}" for n, v in found.items() if n not in way or v != own[n]]
        yield ", ".join(way) + (f" with {' and '.join(told)}" if told else "")


def _parameters(family: Family) -> Iterator[str]:
    """A line for each parameter: name, support, event dims and default."""
    width = max((len(n) for n in family.written), default=0)
    for name, parameter in family.written.items():
        default = f"; {family.defaults[name]} if left out" if name in family.defaults else ""
        support = _support(parameter.support, parameter.event)
        yield f"    {name:{width}}  {support}{default}"


def _support(support: Support, event: int) -> str:
    """A set of values, with the event dims that a value has."""
    along = " and ".join(str(d) for d in (EVENT, primed(EVENT))[:event])
    ends = map(sp.sympify, (support.lower, support.upper))
    lower, upper = (e if e.is_number else sp.Symbol(_text(e)) for e in ends)
    written = repr(replace(support, lower=lower, upper=upper))
    return f"{written}, along {along}" if along else written


def _formula(title: str, expr: Expr) -> list[str]:
    """A titled formula, broken between terms where it is long."""
    text = _text(expr)
    if isinstance(expr, Where):
        condition, then, otherwise = _without_guards(expr).args
        told = Notation().text(condition).strip("[]")
        text = f"{_text(then)} where {told}, else {_text(otherwise)}"
    whole = f"{title}: {text}"
    return [whole] if len(whole) <= WIDTH else [f"{title}:", *wrapped(text, WIDTH)]


def _text(expr: Expr) -> str:
    return Notation().text(_without_guards(sp.sympify(expr)))


def _without_guards(expr: Expr) -> Expr:
    """A formula for readers: what is chosen where a condition holds need not ask for it again.

    >>> from gibbsppl.families.rows import finite_where
    >>> b = sp.Symbol("b")
    >>> Notation().text(_without_guards(finite_where(b - 2, finite_where(b - 1, 3 * b))))
    'where([2 < b], 3*b/((b - 1)*(b - 2)), oo)'
    """
    if not expr.has(Where):
        return expr
    if not isinstance(expr, Where):
        return expr.func(*map(_without_guards, expr.args))
    condition, then, otherwise = expr.args
    while found := [w for w in then.atoms(Where) if _follows(w.args[0], condition)]:
        then = then.xreplace({w: w.args[1] for w in found})
    return Where(_about_unknowns(condition), *map(_without_guards, (then, otherwise)))


def _about_unknowns(condition: Expr) -> Expr:
    """``2 < b`` where ``0 < b - 2`` is written."""
    if not isinstance(condition, Below) or condition.args[0] != 0:
        return condition
    least, rest = condition.args[1].as_coeff_Add()
    return Below(-least, rest)


def _follows(condition: Expr, other: Expr) -> bool:
    """Whether a condition holds wherever another does, as both are bounds of one expression."""
    first, second = map(_about_unknowns, (condition, other))
    if not isinstance(first, Below) or not isinstance(second, Below):
        return bool(first == second)
    lower, above = first.args[0], second.args[0]
    same = first.args[1] == second.args[1]
    return bool(same and (lower == above or (lower.is_number and lower <= above)))


def _natural(family: Family, x: Leaf, event: tuple[Dim, ...]) -> Iterator[str]:
    """The sentence on an exponential family: statistics, and parameters to be given."""
    if family.natural is None:
        return
    known = {n: _element(n, family.parameters[n].event) for n in family.natural.known}
    found = ", ".join(_text(s) for s in family.natural.statistics(x, event, **known))
    given = f", given {' and '.join(known)}" if known else ""
    if found:
        yield f"Exponential family, with the statistics {found}{given}."


def _declaring(family: Family) -> list[str]:
    """The sentences about arguments beside the parameters, and about the result."""
    truncates = can_be_truncated(family) and not {*BOUNDS} & {*family.written}
    text = ABOUT_DECLARING.format(
        event=ABOUT_EVENT[family.event],
        bounds=" ``lower`` and ``upper`` truncate." if truncates else "",
    )
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False)


def _example(family: Family) -> Iterator[str]:
    """The declaration of a variable, as code that runs."""
    size = f'coords={{"{EVENT}": {SIZE}}}' if _event(family) else ""
    yield ">>> import gibbsppl as gp"
    yield f">>> with gp.Model({size}) as model:"
    arguments: dict[str, Example | str] = {n: _value(family, n) for n in family.parameters}
    for name, value in arguments.items():
        if family.parameters[name].event and not isinstance(value, int):
            dims = _dims(family.parameters[name].event)
            yield f'...     {name} = gp.Data("{name}", {value}, dims={dims})'
            arguments[name] = name
    dims = f", dims={_dims(family.event)}" if family.event else ""
    told = "".join(f", {n}={v}" for n, v in arguments.items())
    yield f'...     x = gp.{family.name}("x"{told}{dims})'


def _dims(event: int) -> str:
    return f'"{EVENT}"' if event == 1 else f'("{EVENT}", "{primed(EVENT)}")'


def _value(family: Family, name: str) -> Example:
    """A value of a parameter: the row's example, else one in the middle of its support."""
    if name in family.example:
        return family.example[name]
    support = family.parameters[name].support
    if support.kind in TIED:
        return TIED[support.kind]
    lower, upper = support.numbers
    if lower.is_infinite:
        return 0
    return (lower + upper) / 2 if upper.is_finite else int(lower) + 1
