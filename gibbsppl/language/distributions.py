"""Distributions as a user writes them: a row of `FAMILIES`, its parameters by name.

Comes in: positional and named parameters. Goes out: a `Distribution`, its spelling found. A
positional value is refused where spellings that differ in one name disagree about it.

>>> from gibbsppl.families import FAMILIES
>>> written(FAMILIES["Normal"], "x", (0,), {"tau": 2}).spelling
('mu', 'tau')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature

import numpy as np

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.arguments import called_here, hint
from gibbsppl.errors import ModelError, nearest
from gibbsppl.families import Family, Parameter
from gibbsppl.language.tensors import Tensor, as_tensor

Spelling = tuple[str, ...]

# What a distribution takes by name beside its parameters.
BOUNDS = ("lower", "upper")
OPTIONS = (*BOUNDS, "dims", "event", "observed", "missing", "of")


@dataclass(frozen=True, slots=True)
class Distribution:
    """A family with the parameters that were written, by name, and its truncation.

    ``event`` names the event dims (none: they follow from the arguments), ``of`` the dim that a
    whole number points into.
    """

    family: Family
    spelling: Spelling
    parameters: Mapping[str, Tensor]
    lower: Tensor | None = None
    upper: Tensor | None = None
    event: tuple[Dim, ...] = ()
    of: Dim | None = None

    def __repr__(self) -> str:
        inside = ", ".join(f"{n}={t.expr}" for n, t in self.parameters.items())
        return f"{self.family.name}({inside})"

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors that the distribution is made of."""
        bounds = (b for b in (self.lower, self.upper) if b is not None)
        return (*self.parameters.values(), *bounds)

    def parameter(self, name: str) -> Parameter:
        """The family's entry for a parameter, canonical or not."""
        return self.family.written[name]

    @property
    def spelled(self) -> tuple[tuple[str, Expr], ...]:
        """The parameters as they were written, in order."""
        return tuple((n, t.expr) for n, t in self.parameters.items())

    def canonical(self, event: tuple[Dim, ...]) -> tuple[tuple[str, Expr], ...]:
        """The family's canonical parameters, in order."""
        values = {n: t.expr for n, t in self.parameters.items()}
        spell = self.family.spellings.get(self.spelling)
        if spell is not None:
            takes_event = "event" in signature(spell).parameters
            values = dict(spell(**values, **({"event": event} if takes_event else {})))
        return tuple((n, values[n]) for n in self.family.parameters)


def written(
    family: Family, owner: str, positional: tuple[object, ...], named: Mapping[str, object]
) -> Distribution:
    """The distribution that a user wrote."""
    values = {**_positional(family, owner, positional, named), **named}
    names = {n for spelling in spellings(family) for n in spelling}
    bounds = {b: values.pop(b) for b in BOUNDS if b in values and b not in names}
    spelling = _spelling(family, owner, set(values))
    values = {n: values[n] if n in values else Tensor(family.defaults[n]) for n in spelling}
    parameters = {n: as_tensor(v, f"{owner}: parameter {n}") for n, v in values.items()}
    return Distribution(
        family,
        spelling,
        parameters,
        lower=_bound(family, owner, "lower", bounds.get("lower")),
        upper=_bound(family, owner, "upper", bounds.get("upper")),
    )


def spellings(family: Family) -> tuple[Spelling, ...]:
    """The sets of parameter names that a user may write, the canonical set first."""
    canonical = tuple(family.parameters)
    return (canonical, *(s for s in family.spellings if set(s) != set(canonical)))


def _positional(
    family: Family, owner: str, values: tuple[object, ...], named: Mapping[str, object]
) -> dict[str, object]:
    """The names of positional values, by the first spelling with all given names."""
    names = {n for n in named if n not in BOUNDS}
    fitting = [s for s in spellings(family) if names <= set(s)] or list(spellings(family))
    chosen = fitting[0]
    if len(values) > len(chosen):
        raise ModelError(
            f"{owner}: {len(values)} positional values for {family.name}, which takes "
            f"{_listed(family)}; name the parameters."
        )
    for i, name in enumerate(chosen[: len(values)]):
        rivals = _rivals(name, chosen, fitting)
        if rivals:
            raise ModelError(
                f"{owner}: positional value {i + 1} of {family.name} could be "
                f"{' or '.join((name, *rivals))}; a parameterisation is always named: write "
                f"{' or '.join(f'{n}=...' for n in (name, *rivals))}."
            )
        if name in named:
            raise ModelError(
                f"{owner}: {family.name} got {name} twice, by position and by name; drop one."
            )
    return dict(zip(chosen, values, strict=False))


def _rivals(name: str, chosen: Spelling, fitting: list[Spelling]) -> tuple[str, ...]:
    """The names in place of a parameter in other spellings, such as sigma for tau.

    Links are left out: their names tell (``logit_p``), so that no user mistakes them for ``p``.
    """
    rest = set(chosen) - {name}
    lone = (set(s) - rest for s in fitting if s != chosen and rest <= set(s) and name not in s)
    return tuple(sorted(n for names in lone for n in names if not n.endswith(f"_{name}")))


def by_position(family: Family, spelling: Spelling) -> Spelling:
    """The names at the start of a spelling that may be left out where all others are written.

    >>> from gibbsppl.families import FAMILIES
    >>> by_position(FAMILIES["Normal"], ("mu", "sigma")), by_position(FAMILIES["Beta"], ("a", "b"))
    (('mu',), ('a', 'b'))
    """
    for n in range(len(spelling), 0, -1):
        start, rest = spelling[:n], set(spelling[n:])
        fitting = [s for s in spellings(family) if rest <= set(s)]
        same = fitting[0][:n] == start
        if same and not any(_rivals(name, fitting[0], fitting) for name in start):
            return start
    return ()


def _spelling(family: Family, owner: str, names: set[str]) -> Spelling:
    """The spelling with all given names that lacks only parameters with defaults."""
    fitting = [
        s for s in spellings(family) if names <= set(s) <= names | set(family.defaults)
    ]
    if not fitting:
        found = ", ".join(sorted(names)) or "none"
        raise ModelError(
            f"{owner}: {family.name} with the parameters {found}; expected {_listed(family)}."
            f"{_meant(family, names)}"
        )
    return fitting[0]


def _meant(family: Family, names: set[str]) -> str:
    """The nearest spelling of each name that is no parameter, as a question."""
    known = {n for s in spellings(family) for n in s}
    told = ""
    for name in sorted(names - known):
        if not (near := called_here(name, known)):
            if serves := hint(name, "argument", ()):
                told += serves
                continue
            near = nearest(name, [*known, *OPTIONS])
        told += f" Did you mean {near} where {name} is written?" if near else ""
    return told


def _listed(family: Family) -> str:
    """The spellings, as a message says them.

    >>> from gibbsppl.families import FAMILIES
    >>> _listed(FAMILIES["Laplace"])
    '(mu, rate) or (mu, scale)'
    """
    return " or ".join(
        f"({', '.join(f'[{n}]' if n in family.defaults else n for n in s)})"
        for s in spellings(family)
    )


def can_be_truncated(family: Family) -> bool:
    """Whether both tails of a distribution are known in closed form."""
    return family.log_cdf is not None and family.log_sf is not None


def _bound(family: Family, owner: str, which: str, value: object) -> Tensor | None:
    """A truncation bound; an infinite one is none."""
    if value is None or (isinstance(value, (float, np.floating)) and np.isinf(value)):
        return None
    if not can_be_truncated(family):
        raise ModelError(
            f"{owner}: {which}= truncates, but {family.name} has no distribution function in "
            "closed form; truncation is not supported there: leave the bound out."
        )
    return as_tensor(value, f"{owner}: {which}")
