"""The sampled level: quantiles of draws against importance sampling from the prior.

Each comparison is of the share of draws at or below a quantile that the importance sample has. Its
standard error comes from the effective sizes of both. The level of a whole range of seeds is
`LEVEL`: what looks wrong at first (`SUSPECT`, Bonferroni inside of a model) is run again with four
times the draws and other seeds, and counts by these alone, at `LEVEL` over the number of models.
"""

import re
import warnings

import numpy as np
from scipy import stats

import gibbsppl as gp
from against_reference.elements import LostError
from against_reference.exact import FindingError, compiled
from against_reference.models import Function
from against_reference.trees import World

LEVEL = 1e-3
SUSPECT = 0.02
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
LEAST_SIZE = 2000  # of the importance sample
LEAST_COUNT = 30  # of effective draws on either side of a quantile
DRAWS, CHAINS, PRIOR = 1000, 4, 60_000
MOST_LOST = 1e-4  # of the importance sample: states of which the reference has no weight
APART = 1.1  # an R-hat from which nothing can be said of quantiles
BATCH = 60_000


class SkippedError(Exception):
    """Nothing can be said of a model."""


def importance_sample(model, rng, size):
    """Draws from the prior and weights of largest 1."""
    found, logs = [], []
    with np.errstate(all="ignore"):
        for start in range(0, size, BATCH):
            try:
                arrays, weights = model.simulated(rng, min(BATCH, size - start), model.values)
            except LostError as error:
                raise SkippedError("no weight") from error
            found.append({**arrays, **functions(model, arrays)})
            logs.append(weights)
    logs = np.concatenate(logs)
    if np.isnan(logs).mean() > MOST_LOST:
        raise SkippedError("weights that are not known")
    logs = np.where(np.isnan(logs), -np.inf, logs)
    if not np.isfinite(logs.max()):
        raise SkippedError("no weight")
    return {n: np.concatenate([f[n] for f in found]) for n in found[0]}, np.exp(logs - logs.max())


def functions(model, arrays):
    """The values of named functions, in the order of the dims of the model."""
    found = {}
    states = len(next(iter(arrays.values())))
    world = World(model.lengths, {**model.known, **arrays}, states)
    for item in model.items:
        if isinstance(item, Function):
            dims = [d for d in model.sizes if d in item.body.dims]
            shape = tuple(model.sizes[d] for d in dims)
            values = np.empty((states, *shape))
            for at in np.ndindex(*shape):
                where = dict(zip(dims, at, strict=True))
                values[(slice(None), *at)] = item.body.value(where, world)
            found[item.name] = values
    return found


def check(model):
    """Compare a model; raises `FindingError`, `RefusedError` or `SkippedError`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler, refused = compiled(model)
        if not model.latent:
            raise SkippedError("no latent variable")
        least, compared, told = compare(model, sampler, 1, 1)
        report = {"setting_refused": refused, "compared": compared, "p": least}
        if least < SUSPECT:
            first = told
            least, compared, told = compare(model, sampler, 2, 4)
            report |= {"p_again": least, "first": first, "told": told}
            if least < LEVEL / 1000:  # (the summary compares with the size of the range)
                told = f"p {least:.2g} of {compared}: {told}; first {first}"
                raise FindingError("quantiles", told)
    return {**report, **parts_of(sampler)}


def parts_of(sampler):
    schedule = sampler.schedule
    return {"steps": sorted({s.kind for s in schedule.steps}),
            "rules": sorted({r.rule.name for r in schedule.rewrites})}


def compare(model, sampler, seed, times):
    """The least p-value times the number of comparisons, their number, and which it is."""
    rng = np.random.default_rng([model.seed, 11, seed])
    prior, weights = importance_sample(model, rng, PRIOR * times)
    size = weights.sum() ** 2 / (weights**2).sum()
    if size < LEAST_SIZE:
        raise SkippedError("few effective prior draws")
    try:
        draws = sampler.sample(draws=DRAWS * times, warmup=500, chains=CHAINS, seed=seed,
                               progress=False)
    except gp.GibbspplError as error:
        if is_underflow(error) and (weights == 0).any():
            raise SkippedError("a parameter underflows") from error
        kind = f"sample: {type(error).__name__}: {str(error)[:90]}"
        raise FindingError(kind, str(error)) from error
    found = []
    labels = {v.name for v in model.variables if v.kind == "label"}
    masks = {v.name: v.mask for v in model.variables}
    for name, values in prior.items():
        if name not in draws:
            continue
        theirs = np.asarray(draws[name], float) - (model.in_bugs and name in labels)
        mask = masks.get(name)
        for at in np.ndindex(*values.shape[1:]):
            if mask is None or not mask[at]:
                one = (slice(None), *at)
                found += [(p, f"{name}{list(at)} {text}") for p, text in of_one(
                    values[one], weights, theirs[(slice(None), *one)])]
    if not found:
        raise SkippedError("nothing to compare")
    least, told = min(found)
    if least * len(found) < SUSPECT:
        told = str(draws.summary())
        if "kept at the last number" in told:
            raise SkippedError("draws are kept at the last number")
        worst = re.search(r"\(worst: [^)]*, ([\d.]+)\): the chains", told)
        if times > 1 and worst and float(worst[1]) > APART:
            raise SkippedError("the summary says that chains do not agree")
    return least * len(found), len(found), told


def is_underflow(error):
    """Whether a draw stopped because a parameter is exactly 0.

    The exponential of a variable with heavy tails is: such states have no law in the reference.
    """
    told = str(error)
    return "is not positive" in told and re.search(r"[[ ]0\.(0+e\+00)?[] ]", told) is not None


def of_one(values, weights, draws):
    """p-values of the shares at or below quantiles."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    cuts = values[order][np.searchsorted(total, np.array(SHARES) * total[-1])]
    for cut in np.unique(cuts):
        # (whole numbers are compared as they are; others are never equal but by rounding)
        edge = cut + 1e-9 * abs(cut)
        below, seen = values <= edge, (draws <= edge).astype(float)
        share = (weights * below).sum() / weights.sum()
        variance = (weights**2 * (below - share) ** 2).sum() / weights.sum() ** 2
        mean, effective = seen.mean(), effective_size(seen)
        least = min(share, 1 - share)
        if least * min(effective, share * (1 - share) / max(variance, 1e-300)) < LEAST_COUNT:
            continue
        spread = variance + share * (1 - share) / effective
        z = (mean - share) / np.sqrt(spread)
        degrees = max(effective / 10, 4)  # (the effective size is itself an estimate)
        yield 2 * stats.t.sf(abs(z), degrees), f"<= {cut:.4g}: {mean:.4f}, reference {share:.4f}"


def effective_size(draws):
    """The effective number of draws of several chains (Geyer's initial monotone sequence)."""
    n = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :n], draws[:, -n:]])
    centred = halves - halves.mean(1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    covariance = (np.fft.irfft(spectrum)[:, :n] / n).mean(0)
    within = covariance[0] * n / (n - 1)
    whole = within * (n - 1) / n + halves.mean(1).var(ddof=1)
    if whole == 0:
        return float(halves.size)
    correlation = 1 - (within - covariance * n / (n - 1)) / whole
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(1)
    stop = np.argmax(pairs < 0) if (pairs < 0).any() else len(pairs)
    time = 2 * np.minimum.accumulate(pairs[:stop]).sum() - 1
    return float(halves.size / max(time, 1.0 / np.log10(halves.size)))
