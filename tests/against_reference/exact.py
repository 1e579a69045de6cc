"""The exact level: the log density of the reference against that of the model, then ``verify()``.

A model of gibbsppl that is refused with an error of its own is counted by the kind of its message;
whatever else goes wrong is a finding.
"""

import re
import warnings
from dataclasses import replace

import numpy as np

import gibbsppl as gp
from against_reference import bugs
from against_reference.elements import LostError
from against_reference.models import Variable
from against_reference.scalars import POSITIVE, UNIT
from against_reference.table import is_proper
from gibbsppl.model.density import log_terms

RELATIVE_TOLERANCE = 1e-9
STATES = 4
# What says that a sweep meets values that it cannot go on from.
FAILING_CALL = r"its call fails with (RunError|ValueError|FloatingPointError|ZeroDivisionError)"


class FindingError(Exception):
    """What must not be: its kind, and what came out."""

    def __init__(self, kind, told):
        super().__init__(f"{kind}: {told}")
        self.kind, self.told = kind, told


class RefusedError(Exception):
    """An error of gibbsppl's own: its kind."""


def source_of(model, settings=True):
    """The script that declares or reads a model, and compiles it."""
    asked = model if settings else replace(model, settings={})
    return bugs.script(asked) if model.in_bugs else asked.source()


def compiled(model):
    """The sampler of the source of a model; with default settings where its own are refused."""
    refused = None
    for settings in (True, False):
        names = {}
        try:
            exec(source_of(model, settings), names)  # noqa: S102  (the source is printed here)
        except gp.GibbspplError as error:
            if "model" not in names or not (settings and model.settings):
                raise RefusedError(kind_of(error, model)) from error
            refused = f"setting: {kind_of(error, model)}"
        else:
            return names["sampler"], refused
    raise AssertionError


def kind_of(error, model):
    """An error's message without names and numbers."""
    text = str(error)
    names = sorted({*model.sizes, *(i.name for i in model.items)}, key=len, reverse=True)
    text = re.sub(rf"(?<![\w])({'|'.join(map(re.escape, names))})(?![\w])", "x", text)
    text = re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "#", text)
    text = re.sub(r"\[[^\]]*\]|\([^)]*\)", "_", text)
    return f"{type(error).__name__}: {text[:110]}"


def states_of(model, seed=0):
    """States to compare at: that which made the data, and others from the prior if it has any."""
    rng = np.random.default_rng([model.seed, 7, seed])
    own = {n: np.asarray(v, float)[None] for n, v in model.values.items()}
    with np.errstate(all="ignore"):
        try:
            drawn, _ = model.simulated(rng, STATES - 1, model.values)
        except LostError:
            drawn = {n: np.repeat(v, STATES - 1, axis=0) for n, v in own.items()}
    return {n: np.concatenate([own[n], drawn[n]]) for n in own}


def check(model, on_compiled=lambda: None):
    """What was seen of the model: words for the report. Raises `FindingError` or `RefusedError`."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler, refused = compiled(model)
        on_compiled()
        same_density(model, sampler)
        told = verified(sampler, model)
    return {**told, "setting_refused": refused}


def same_density(model, sampler):
    """Compare the log densities at several states."""
    states = states_of(model)
    with np.errstate(all="ignore"):
        ours = model.log_terms(states, STATES)
    finite = 0
    for n in range(STATES):
        values = {**sampler.data, **{
            name_in(sampler, k): whole_as_is(model, k, v[n]) for k, v in states.items()}}
        theirs = log_terms(sampler.graph, values)
        mine = np.concatenate([t[:, n] for t in ours.values()])
        total = sum(theirs.values())
        finite += bool(np.isfinite(mine).all())
        if np.isneginf(mine).any() and np.isneginf(total):
            continue
        with np.errstate(invalid="ignore"):
            expected = mine.sum()
        # A state from far out tells nothing where a function has overflowed or a probability
        # underflowed, or where a value is rounded to the end of its support.
        if n > 0 and not np.isfinite(expected):
            continue
        if not agree(total, expected, np.abs(mine).sum()):
            each = {k: float(t[:, n].sum()) for k, t in ours.items()}
            raise FindingError("density", f"state {n}: gibbsppl {total!r} {theirs}; "
                                     f"reference {expected!r} {each}")
    if not finite:
        raise AssertionError("no state has a finite density")


def agree(found, expected, size):
    """Whether two sums are equal up to rounding in terms of a size; infinite ones are the same."""
    if not np.isfinite(expected):
        return found == expected
    return abs(found - expected) <= RELATIVE_TOLERANCE * (1 + size)


def name_in(sampler, name):
    """The name that an array has in the graph: labels of programs count from 0 there."""
    known = sampler.graph.variables
    found = next((n for n in (f"{name}.label", name) if n in known), None)
    if found is None:
        raise RefusedError(f"an array of the program is another one in the graph: {sorted(known)}")
    return found


def whole_as_is(model, name, values):
    """Values as gibbsppl holds them: labels and counts as whole numbers."""
    kinds = {i.name: i.kind for i in model.items if isinstance(i, Variable)}
    return values.astype(int) if kinds[name] in ("label", "binary", "count", "counts") else values


def has_a_posterior(sampler, model):
    """Raise `RefusedError` if a prior is improper, and the posterior is refused for it.

    Sweeps lead to where digits are lost, or numbers end.
    """
    if all(is_proper(p.family) for _, p in model.latent):
        return
    try:
        sampler.initial_states(1, seed=0)
    except gp.RunError as error:
        raise RefusedError(kind_of(error, model)) from error
    try:
        sampler.sample(draws=100, warmup=0, chains=1, seed=0, progress=False)
    except gp.RunError as error:
        if "improper" in str(error):
            raise RefusedError(kind_of(error, model)) from error


def exceeds_numbers(model):
    """Whether numbers cannot hold what the model draws from its prior.

    Values are too large, or positive ones round to 0, or a density or a parameter is no number.
    """
    rng = np.random.default_rng([model.seed, 13])
    with np.errstate(all="ignore"):
        try:
            drawn, weights = model.simulated(rng, 1000, model.values)
        except LostError:
            return True
        terms = np.concatenate([*model.log_terms(drawn, 1000, strict=False).values()])
    if np.isnan(weights).any() or not (terms < np.inf).all():
        return True
    seen = {n: v[np.isfinite(weights)] for n, v in drawn.items()}
    positive = {v.name for v in model.variables if v.kind in (POSITIVE, UNIT)}
    return not all(np.isfinite(v).all() for v in seen.values()) or any(
        (seen[name][:, ~_known_in(model, name)] == 0).any() for name in positive)


def _known_in(model, name):
    """Which elements of an array are observed."""
    mask = next(v.mask for v in model.variables if v.name == name)
    return np.zeros(model.values[name].shape, bool) if mask is None else mask


def has_no_integral(model):
    """Whether the density has no integral along an element of an improper prior, all else given."""
    flat = {v.name for v, part in model.latent if not is_proper(part.family)}
    return any(
        _falls_too_slowly(model, name, place, side)
        for name in flat for place in np.argwhere(~_known_in(model, name)) for side in (-1.0, 1.0))


def _falls_too_slowly(model, name, place, side):
    """Whether the density falls no faster than 1/x at the largest distances that numbers hold."""
    away = side * 2.0 ** np.arange(1020)
    own = {n: np.repeat(np.asarray(v, float)[None], len(away), axis=0)
           for n, v in model.values.items()}
    own[name][(slice(None), *place)] += away
    with np.errstate(all="ignore"):
        terms = np.concatenate([*model.log_terms(own, len(away), strict=False).values()])
        density = terms.sum(axis=0)
        are_numbers = np.append(density < np.inf, False)
        last = int(np.argmin(are_numbers)) - 1
        if last < 1 or np.isneginf(density[last]):
            return False
        return bool(density[last] + np.log(2) >= density[last - 1])


def verified(sampler, model):
    """The whole check of the sampler, and what it is made of."""
    result = sampler.verify()
    if not result.proved:
        has_a_posterior(sampler, model)
        failed = [r.step for r in result.rows if not r.passed]
        left = failed or [r.step for r in result.rows if not r.proved]
        if all(step == "(sweeps)" or re.search(FAILING_CALL, step) for step in left):
            if exceeds_numbers(model):
                raise RefusedError("RunError: numbers cannot hold what the prior draws")
            if has_no_integral(model):
                raise RefusedError("the posterior is improper: its density does not fall")
    # (an infinite tolerance is none)
    if not result.passed or not all(np.isfinite(r.tolerance) for r in result.rows):
        raise FindingError("verify", str(result))
    if not result.proved:
        raise FindingError("not proved", str(result))
    schedule = sampler.schedule
    return {
        "steps": sorted({s.kind for s in schedule.steps}
                        | {f"interwoven {s.kind}" for s in schedule.steps
                           if s.name in schedule.interwoven}),
        "by": sorted({f"{s.kind} {s.family.name}" for s in schedule.steps if s.family}),
        "rules": sorted({r.rule.name for r in schedule.rewrites}
                        | ({"parts"} if schedule.parts else set())
                        | ({"unseen"} if schedule.leaves else set())
                        | ({"interweaving"} if schedule.interwoven else set())),
        "colours": any(s.is_coloured for s in schedule.steps),
    }
