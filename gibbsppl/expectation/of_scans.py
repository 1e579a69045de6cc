"""Scans of labels read by their means: collapsed variational Bayes, to the zeroth order.

Comes in: the scan of labels with others integrated out, and their `Averages`. Goes out: the scan
whose arrays are expectations. A label adds to an array in proportion to an indicator, so that the
expectation of the array is exact; that of a function of the array is taken to be the function of
the expectation. (Y. W. Teh, D. Newman and M. Welling, 2007, "A collapsed variational Bayesian
inference algorithm for latent Dirichlet allocation", NIPS 19; CVB0 of A. Asuncion, M. Welling, P.
Smyth and Y. W. Teh, 2009, "On smoothing and inference for topic models", UAI 25.)
"""

from __future__ import annotations

from dataclasses import replace

from gibbsppl.algebra.expressions import leaves_of, mentions, substitute
from gibbsppl.derive.labels import LABEL
from gibbsppl.expectation.of_labels import Labels
from gibbsppl.model.graph import Maintained, Scatter
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.moments import Refused


def expected_scan(scan: Scan, labels: Labels) -> Scan:
    """The scan with expectations of its arrays, and shares of labels in place of one label."""
    if not scan.approximate:
        raise Refused(
            "its labels see one another, which a scan takes one by one; approximate=True reads "
            "them all at once"
        )
    (name,) = labels.arrays
    read = [t for t, _ in scan.terms] + [c.value for c in scan.changes]
    if any(mentions(e, (name,)) for e in read):
        raise Refused("what a label adds depends on other labels")
    shares = labels.probabilities[(*labels.dims(name), LABEL)]
    kept = tuple(_expected(a, labels) for a in scan.kept)
    return replace(scan, kept=kept, shares=shares)


def _expected(array: Maintained, labels: Labels) -> Maintained:
    """The array with the expectation of each contribution."""
    return replace(array, scatters=tuple(_of_scatter(s, labels) for s in array.scatters))


def _of_scatter(scatter: Scatter, labels: Labels) -> Scatter:
    """A contribution, in proportion to the probability of each value of its label."""
    leaves = {x for e in (scatter.value, *scatter.indices) for x in leaves_of(e, labels.arrays)}
    if not leaves:
        return scatter
    if len(leaves) > 1:
        raise Refused("what a label adds depends on other labels")
    (leaf,) = leaves
    taken = {d for e in (scatter.value, *scatter.indices) for d in e.free_symbols}
    (k,) = labels.at((leaf,), {*taken, *(r.dim for r in scatter.over)})
    own = {leaf: k + labels.labels.start}
    return replace(
        scatter,
        indices=tuple(substitute(i, own) for i in scatter.indices),
        value=labels.weight((leaf,), (k,)) * substitute(scatter.value, own),
        over=scatter.over + labels.ranges((k,)),
    )
