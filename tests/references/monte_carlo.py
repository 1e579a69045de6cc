"""Monte Carlo errors, and the rule by which two answers agree."""

import numpy as np

BATCHES = 20


def mean_and_error(values):
    """The mean of draws (chain, draw) and its standard error, by the means of batches.

    Each chain is cut in 20: few enough for batches much longer than the autocorrelation, many
    enough (80 with four chains) for the error itself to be known to a few per cent.
    """
    values = np.atleast_2d(values)
    length = values.shape[1] // BATCHES
    kept = values[:, values.shape[1] - BATCHES * length :]
    batches = kept.reshape(-1, length).mean(axis=1)
    return float(batches.mean()), float(batches.std(ddof=1) / np.sqrt(batches.size))


def distance(values, reference):
    """How many combined Monte Carlo errors lie between the mean of draws and a reference."""
    mean, error = mean_and_error(values)
    target, target_error = reference
    return abs(mean - target) / np.hypot(error, target_error)


def effective_draws(values):
    """How many independent draws would have the same error."""
    _, error = mean_and_error(values)
    return float(np.var(values) / error**2)


def disagreements(quantities, references, limit=4.0):
    """The quantities whose mean is more than ``limit`` combined errors from its reference."""
    assert set(references) <= set(quantities), set(references) - set(quantities)
    distances = {name: distance(quantities[name], references[name]) for name in references}
    return {name: far for name, far in distances.items() if not far <= limit}
