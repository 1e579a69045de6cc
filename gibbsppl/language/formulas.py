"""Regressions by a formula: an ordinary model, declared as one would have written it.

Comes in: a formula such as ``y ~ 1 + x + (1 + x | county)``, and a table. Goes out: a `Model`
with data for each column of the design, a coefficient for each, and a group of coefficients for
each term in brackets. Columns are made by the package formulaic; terms of groups are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, array_of
from gibbsppl.arguments import calls_told, hint, shown
from gibbsppl.errors import ModelError
from gibbsppl.families import FAMILIES
from gibbsppl.language.data import Data, Index
from gibbsppl.language.dim_names import dims_named
from gibbsppl.language.distributions import Distribution, written
from gibbsppl.language.functions import exp
from gibbsppl.language.model import Model, current_model
from gibbsppl.language.statements import Names, declared
from gibbsppl.language.tensors import Tensor

# A table of pandas or polars, or a dict of columns.
Table = Any

ROWS = "obs"
DIGITS = 3
GROUP = re.compile(r"\s*\w+(\s*[:/]\s*\w+)*\s*")
INTERCEPT = "Intercept"
# Priors of coefficients are so many times as wide as the data, in units of their columns.
WIDE = 2.5


@dataclass(frozen=True, slots=True)
class Response:
    """How a response depends on its linear predictor.

    ``make`` are the family and its parameters, of the predictor and of the parameters with priors
    of their own, ``more``, after the number of trials if ``has_trials``. ``start`` is the predictor
    of the response's mean. ``is_scaled``: the predictor has the unit of the response.
    """

    make: Callable[..., tuple[str, Mapping[str, Any]]]
    more: tuple[str, ...] = ()
    start: Callable[[float], float] = lambda _: 0.0
    is_scaled: bool = False
    has_trials: bool = False


def _log(mean: float) -> float:
    """The predictor of a mean under a log link; 0 where nothing but zeros was seen."""
    return float(np.log(mean)) if mean > 0 else 0.0


RESPONSES: Mapping[str, Response] = {
    "normal": Response(
        lambda m, s: ("Normal", {"mu": m, "sigma": s}), ("sigma",), float, is_scaled=True
    ),
    "student": Response(
        lambda m, s: ("StudentT", {"nu": 4, "mu": m, "sigma": s}), ("sigma",), float, is_scaled=True
    ),
    "bernoulli": Response(lambda m: ("Bernoulli", {"logit_p": m})),
    "binomial": Response(lambda m, n: ("Binomial", {"n": n, "logit_p": m}), has_trials=True),
    "poisson": Response(lambda m: ("Poisson", {"rate": exp(m)}), start=_log),
    "negative binomial": Response(
        lambda m, a: ("NegativeBinomial", {"mu": exp(m), "alpha": a}), ("alpha",), _log
    ),
    "gamma": Response(
        lambda m, a: ("Gamma", {"shape": a, "rate": a / exp(m)}), ("alpha",), _log
    ),
}

# Responses with a number of trials, by their spelling: that number, of the two columns.
TRIALS: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "p": lambda _, n: n,
    "prop": lambda _, n: n,
    "proportion": lambda _, n: n,
    "cbind": lambda successes, failures: successes + failures,
}
WITH_TRIALS = re.compile(rf"({'|'.join(TRIALS)})\(\s*([\w.]+)\s*,\s*([\w.]+)\s*\)")
OFFSET = re.compile(r"offset\((.*)\)")


@dataclass(frozen=True, slots=True)
class Grouped:
    """A term ``(terms | group)``; with ``||`` its coefficients are not correlated."""

    terms: str
    group: str
    is_correlated: bool


@calls_told(ModelError)
def formula(
    text: str,
    data: Table,
    family: str = "normal",
    priors: Mapping[str, Distribution] | None = None,
) -> Model:
    """The model of a formula, as in lme4, brms and bambi; print its ``graph`` to see it.

    ``data`` is a table of pandas or polars, or a dict of columns; ``family`` is "normal",
    "student" (4 degrees of freedom), "bernoulli", "binomial" (logit links; the response is
    p(y, n) or cbind(y, failures)), "poisson", "negative binomial" or "gamma" (log links). A term
    offset(z) has no coefficient. Variables are ``Intercept``, ``b_x`` for a column ``x`` of the
    design, ``r_county`` for a group with scales ``sd_county`` (or a covariance ``cov_county``),
    and ``sigma`` or ``alpha``. Their priors are wide for the scale of the data;
    ``priors={"b_x": gp.Normal(0, sigma=1)}`` has others. Missing entries of the response are
    drawn, missing predictors are an error. Needs the package formulaic.

    >>> rats = {"weight": [151.0, 199, 246, 145, 199, 249], "day": [8, 15, 22] * 2, "rat": "aaabbb"}
    >>> print(formula("weight ~ day + (1 | rat)", {n: [*v] for n, v in rats.items()}).graph)
    Intercept ~ Normal(mu=198, tau=1/81796)
    b_day ~ Normal(mu=0, tau=25/7921)
    sd_rat ~ HalfStudentT(nu=4, scale=40.7)
    r_rat[rat] ~ Normal(mu=0, tau=1/sd_rat**2)
    sigma ~ HalfStudentT(nu=4, scale=40.7)
    weight[obs] ~ Normal(mu=Intercept + b_day*day[obs] + r_rat[rat_of[obs]], tau=1/sigma**2),
        observed
    """
    if family not in RESPONSES:
        raise ModelError(
            f"formula: found family={family!r}, expected one of {', '.join(RESPONSES)}."
            f"{hint(str(family), 'family', RESPONSES)}"
        )
    left, common, groups = _parts(text)
    table, response = _table(data), RESPONSES[family]
    left, *tried = _tried(table, left, family)
    observed = _column(table, left)
    scale = _rounded(np.nanstd(observed)) or 1.0 if response.is_scaled else 1.0
    with Model(coords={ROWS: len(table)}, name=left) as model:
        own = _Priors(dict(priors or {}), set())
        start = _rounded(response.start(float(np.nanmean(observed))))
        predictor = _common(table, common, own, start, scale)
        for group in groups:
            predictor = predictor + _group(table, group, own, scale)
        half = _of("HalfStudentT", nu=4, scale=scale)
        trials = [_data(*named) for named in tried]
        more = [own.declared(n, half) for n in response.more]
        named, parameters = response.make(predictor, *trials, *more)
        missing = np.nan if np.isnan(observed).any() else None
        declared(
            _name(left), _of(named, **parameters), dims_named(ROWS, left), observed, missing
        )
        own.check()
    return model


@dataclass(frozen=True, slots=True)
class _Priors:
    """The user's priors, and the names of all variables that have one."""

    given: Mapping[str, Distribution]
    names: set[str]

    def declared(self, name: str, usual: Distribution, dims: Names = None) -> Tensor:
        """A variable with the user's prior, or the usual one."""
        self.names.add(name)
        prior = self.given.get(name, usual)
        if not isinstance(prior, Distribution):
            raise ModelError(
                f"priors: {name} is {shown(prior)}, expected a distribution without a name, such "
                "as gp.Normal(0, sigma=1)."
            )
        return declared(name, prior, dims_named(dims, name), None)

    def check(self) -> None:
        """Raise unless all priors have been used."""
        for name in self.given.keys() - self.names:
            raise ModelError(
                f"priors: found {name!r}, expected names among {', '.join(sorted(self.names))}."
                f"{hint(str(name), 'prior', self.names)}"
            )


def _of(family: str, **parameters: Any) -> Distribution:
    """A distribution by the name of its family."""
    return written(FAMILIES[family], family, (), parameters)


def _parts(text: str) -> tuple[str, str, list[Grouped]]:
    """The response, the common terms, and the terms in groups of a formula."""
    sides = text.split("~") if isinstance(text, str) else []
    if len(sides) != 2 or not all(s.strip() for s in sides):
        raise ModelError(
            f"formula: found {shown(text)}, expected a response and terms, such as "
            "'y ~ 1 + x + (1 | group)'."
        )
    common, groups = [], []
    for term in _summands(sides[1]):
        inside = term[1:-1] if term.startswith("(") and term.endswith(")") else term
        if "|" not in inside:
            common.append(term)
            continue
        terms, bar, group = inside.partition("||" if "||" in inside else "|")
        if inside == term or not GROUP.fullmatch(group):
            raise ModelError(
                f"formula: found the term {term!r}, expected (terms | group) in brackets, the "
                "group a column, a:b or a/b."
            )
        groups += [Grouped(terms.strip(), g, bar == "|") for g in _nested(group)]
    return sides[0].strip(), " + ".join(common) or "1", groups


def _tried(table: Any, left: str, family: str) -> tuple[Any, ...]:
    """The column of the response, and the name and numbers of its trials where it has these."""
    found = WITH_TRIALS.fullmatch(left)
    if (found is not None) != RESPONSES[family].has_trials:
        told = [n for n, r in RESPONSES.items() if r.has_trials]
        raise ModelError(
            f"formula: found the response {left!r} with family={family!r}, expected p(y, n) or "
            f"cbind(y, failures) for {', '.join(told)}, which counts successes in trials, and one "
            'column for all others ("bernoulli" for single trials, 0 or 1).'
        )
    if found is None:
        return (left,)
    spelled, own, other = found.groups()
    for column in (own, other):
        if column not in table:
            known = ", ".join(map(str, table.columns))
            raise ModelError(f"formula: found no column {column!r} for {left}, only {known}.")
    numbers = TRIALS[spelled](_column(table, own), _column(table, other))
    if np.isnan(numbers).any():
        raise ModelError(f"formula: {left}: numbers of trials are missing; drop these rows.")
    return own, (f"{_name(own)}.trials" if spelled == "cbind" else _name(other), numbers)


def _nested(group: str) -> Iterator[str]:
    """The groups of ``a/b``: a, and b within a."""
    names = [n.strip().replace(" ", "") for n in group.split("/")]
    yield from (":".join(names[: i + 1]) for i in range(len(names)))


def _summands(text: str) -> Iterator[str]:
    """The terms between the plus signs that are in no brackets."""
    depth, start = 0, 0
    for i, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "+" and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    yield text[start:].strip()


def _table(data: Table) -> Any:
    """The columns as a table of pandas."""
    try:
        pandas = import_module("pandas")
        import_module("formulaic")
    except ImportError as error:
        raise ModelError(
            'formula: needs the package formulaic: pip install "gibbsppl[formula]".'
        ) from error
    if isinstance(data, pandas.DataFrame):
        return data.reset_index(drop=True)
    columns = {n: data[n] for n in data} if isinstance(data, Mapping) else None
    if hasattr(data, "to_dict") and columns is None:
        columns = data.to_dict(as_series=False)  # (of polars)
    if columns is None:
        raise ModelError(f"formula: found data={shown(data)}, expected a table.")
    return pandas.DataFrame(columns)


def _column(table: Any, left: str) -> np.ndarray:
    """The response as floats, NaN where it is missing."""
    if left in table:
        values = table[left]
        try:
            return np.asarray(values.to_numpy(dtype=float, na_value=np.nan))
        except (TypeError, ValueError) as error:
            raise ModelError(f"formula: {left} is {values.dtype}, expected numbers.") from error
    return np.asarray(_design(table, f"0 + {left}").to_numpy(dtype=float)[:, 0])


def _design(table: Any, terms: str) -> Any:
    """The columns of the design of some terms."""
    package = import_module("formulaic")
    try:
        return package.model_matrix(terms, table, na_action="raise")
    except Exception as error:
        known = ", ".join(map(str, table.columns))
        raise ModelError(
            f"formula: {terms}: {' '.join(str(error).split())} The columns are {known}."
        ) from error


def _common(table: Any, terms: str, priors: _Priors, start: float, scale: float) -> Tensor:
    """The sum of the common terms.

    The intercept is that at zero of all columns: its prior allows for any slope. Without an
    intercept, columns have to reach the response from zero.
    """
    total: Tensor | float = 0.0
    terms, offsets = _offsets(terms)
    columns = _covariates(table, terms)
    has_intercept = any(c.name == INTERCEPT for c in columns)
    reach = WIDE * (scale if has_intercept else np.hypot(scale, start))
    slopes = {c.name: reach / c.spread for c in columns if c.name != INTERCEPT}
    at_zero = np.sqrt(reach**2 + sum((slopes[c.name] * c.mean) ** 2 for c in columns if c.mean))
    for column in columns:
        if column.name == INTERCEPT:
            usual = _of("Normal", mu=start, sigma=_rounded(at_zero))
            total = total + priors.declared(INTERCEPT, usual)
        else:
            usual = _of("Normal", mu=0, sigma=_rounded(slopes[column.name]))
            total = total + priors.declared(f"b_{column.name}", usual) * column.values
    for term in offsets:
        (column,) = _design(table, f"0 + {term}")
        total = total + _data(_name(column), _design(table, f"0 + {term}")[column].to_numpy(float))
    return total if isinstance(total, Tensor) else Tensor(sp.S.Zero, current_model("formula"))


def _offsets(terms: str) -> tuple[str, list[str]]:
    """The terms that have coefficients, and those of ``offset(...)``, which have none."""
    summands = list(_summands(terms))
    found = [OFFSET.fullmatch(t) for t in summands]
    left = [t for t, own in zip(summands, found, strict=True) if own is None]
    return " + ".join(left) or "1", [own.group(1) for own in found if own is not None]


def _group(table: Any, group: Grouped, priors: _Priors, scale: float) -> Tensor:
    """The sum of the terms of a group, with coefficients for each of its levels."""
    columns = _covariates(table, group.terms)
    dim, scales = _name(group.group), [_rounded(scale / c.spread) for c in columns]
    of = _index(table, group.group, dim)
    if len(columns) > 1 and group.is_correlated:
        model, terms = current_model(dim), f"{dim}.term"
        model.add_dim(terms, [c.name for c in columns], f"formula: {group.group}")
        spread = Data(f"{dim}.scale", scales, dims=terms)
        usual = _of("HuangWand", nu=2, scale=spread)
        cov = priors.declared(f"cov_{dim}", usual, (terms, f"{terms}'"))
        prior = replace(_of("MvNormal", mu=0, cov=cov), event=(Dim(terms),))
        own = priors.declared(f"r_{dim}", prior, (dim, terms))
        parts = [own.at(terms, i)[of] * c.values for i, c in enumerate(columns)]
        return sum(parts[1:], parts[0])
    total: Tensor | float = 0.0
    for column, wide in zip(columns, scales, strict=True):
        label = dim if column.name == INTERCEPT else f"{dim}_{column.name}"
        sd = priors.declared(f"sd_{label}", _of("HalfStudentT", nu=4, scale=wide))
        own = priors.declared(f"r_{label}", _of("Normal", mu=0, sigma=sd), dim)
        total = total + own[of] * column.values
    assert isinstance(total, Tensor)
    return total


def _index(table: Any, group: str, dim: str) -> Tensor:
    """The level of a group that each row has; the group of two is the pair of theirs."""
    name, columns = f"{dim}_of", group.split(":")
    model = current_model(name)
    if name in model.declared.values:
        return Tensor(Array(name)[(Dim(ROWS),)], model, Dim(dim))
    for column in columns:
        if column not in table:
            known = ", ".join(map(str, table.columns))
            raise ModelError(f"formula: found no column {column!r} for a group, only {known}.")
        if table[column].isna().any():
            raise ModelError(f"formula: the group {column!r} has missing entries; drop these rows.")
    levels = table[columns[0]].astype("category")
    if len(columns) > 1:
        rows = zip(*(table[c].astype(str) for c in columns), strict=True)
        levels = np.array([":".join(row) for row in rows])
    return Index(name, levels, of=dim, dims=ROWS)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a design: its data (1 for the intercept), its mean and standard deviation."""

    name: str
    values: Tensor | int
    mean: float = 0.0
    spread: float = 1.0


def _covariates(table: Any, terms: str) -> list[_Column]:
    """The columns of the design of some terms."""
    design = _design(table, terms)
    found = []
    for column in design:
        name, values = _name(column), design[column].to_numpy(dtype=float)
        if name == INTERCEPT:
            found.append(_Column(name, 1))
            continue
        spread = float(values.std()) or float(np.abs(values).max()) or 1.0
        found.append(_Column(name, _data(name, values), float(values.mean()), spread))
    return found


def _data(name: str, values: np.ndarray) -> Tensor:
    """The data of a column, declared once."""
    model = current_model(name)
    if name in model.declared.values:
        return Tensor(array_of(name, is_positive=bool((values > 0).all()))[(Dim(ROWS),)], model)
    is_whole = bool((values == np.floor(values)).all())
    return Data(name, values.astype(int) if is_whole else values, dims=ROWS)


def _name(column: str) -> str:
    """A column's name as the name of a variable."""
    return re.sub(r"\W+", ".", str(column)).strip(".")


def _rounded(value: float) -> float:
    """A number as one would write it."""
    return float(f"{value:.{DIGITS}g}")
