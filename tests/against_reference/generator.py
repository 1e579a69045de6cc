"""Random models: ``model(seed)`` is always the same for a seed."""

from dataclasses import replace

import numpy as np

from against_reference import bugs, motifs
from against_reference.children import child, latent
from against_reference.choices import settings_of
from against_reference.models import Function, Model, Variable
from against_reference.table import is_proper
from against_reference.terms import Draft
from against_reference.trees import Call

DIMS = ("i", "j", "k", "t")
TRIES = 200


class NotFoundError(Exception):
    """No model was found for a seed."""


def model(seed, level="exact"):
    """The model of a seed.

    For the level "sampled" it has little data; for "exact-bugs" and "sampled-bugs" it can be
    written in the language of BUGS.
    """
    size, _, language = level.partition("-")
    for attempt in range(TRIES):
        rng = np.random.default_rng([seed, attempt, size == "sampled", bool(language)])
        made = _described(rng, seed, size, bool(language))
        if made and language and not _is_expressible(made):
            continue
        found = made and _with_values(rng, made)
        if found:
            return found
    raise NotFoundError(seed)


def _is_expressible(made):
    try:
        bugs.Writer(made).text()
        bugs.program(replace(made, values={v.name: 0.0 for v in made.variables}))
    except bugs.NotExpressibleError:
        return False
    return True


def _described(rng, seed, level, in_bugs):
    small = level == "sampled"
    sizes = {d: int(rng.integers(1 if d != "t" else 2, 4 if small else 5)) for d in DIMS}
    draft = Draft(rng, sizes, calm=small)
    if in_bugs:
        draft.families = frozenset(bugs.DISTRIBUTIONS)
    if draft.chance(0.45):
        motifs.any_of(draft)
    else:
        for _ in range(int(rng.integers(1, 4 if small else 6))):
            latent(draft)
    seen = sum(getattr(i, "mask", None) is not None for i in draft.items)
    for _ in range(int(rng.integers(0 if seen else 1, 2 if small else 4))):
        child(draft)
    motifs.extras(draft)
    made = Model(seed, sizes, tuple(draft.items), features=frozenset(draft.features))
    if not any(v.mask is None or not v.mask.all() for v in made.variables):
        return None
    if _is_left_improper(made):
        return None
    if in_bugs:
        return replace(made, in_bugs=True)
    return replace(made, settings=settings_of(draft, made))


BOUNDED = ("step", "<", "Phi", "expit")


def _is_left_improper(made):
    """Whether a variable of improper prior is seen, directly or not, by nothing observed.

    What is random alone integrates to one, and leaves the prior as it is; and the spread of what is
    not seen itself may be 0, as far as data can tell, or its shape anything.
    """
    told = set()
    for item in reversed(made.items):
        if isinstance(item, Function) and item.name in told:
            told |= _names_in(item.body)
        elif isinstance(item, Variable):
            known = item.mask is not None and item.mask.any()
            is_latent, is_told = item.mask is None or not item.mask.all(), item.name in told
            improper = not all(is_proper(p.family) for p in item.parts if p.number is None)
            if is_latent and improper and not is_told:
                return True
            if known:
                exprs = (*item.censoring.values(), *(e for p in item.parts for e in p.exprs))
                told = told.union(*map(_names_in, exprs))
            elif is_told:
                means = (p.written["mu"] for p in item.parts if "mu" in p.written)
                told = told.union(*map(_names_in, means))
    return False


def _names_in(expr):
    """The names of what an expression follows: what is bounded says no more far out."""
    if isinstance(expr, Call) and expr.function in BOUNDED:
        return set()
    own = {expr.name} if hasattr(expr, "name") else set()
    return own.union(*map(_names_in, expr.parts))


def _with_values(rng, made):
    """The model with values for what is observed, simulated from itself; None if that fails."""
    with np.errstate(all="ignore"):
        try:
            arrays, weights = made.simulated(rng, 1)
        except (ValueError, OverflowError, np.linalg.LinAlgError):
            return None
        values = {n: a[0] for n, a in arrays.items()}
        if not np.isfinite(weights[0]) or not all(map(_is_moderate, values.values())):
            return None
        values = motifs.with_limits(made, values)
        terms = made.log_terms({n: a[None] for n, a in values.items()}, 1)
    if not all(np.isfinite(t).all() for t in terms.values()):
        return None
    return replace(made, values=values)


def _is_moderate(x):
    """Whether numbers are neither huge nor, but for 0, tiny."""
    size = np.abs(x[x != 0])
    return bool(np.isfinite(x).all() and (size < 1e4).all() and (size > 1e-6).all())
