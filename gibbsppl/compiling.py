"""From a model to a sampler: the settings of a user checked, the passes carried out.

>>> import gibbsppl as gp
>>> with gp.Model(name="coin") as coin:
...     p = gp.Beta("p", 1, 1)
...     heads = gp.Binomial("heads", 10, p, observed=7)
>>> print(gp.compile(coin))
coin: 1 step, all exact
  p  Beta  eta = (heads, 10 - heads)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gibbsppl.arguments import TRUTH, calls_told
from gibbsppl.errors import CompileError
from gibbsppl.runtime.user_kernels import Kernel as OwnKernel
from gibbsppl.sampler import Sampler, compiled
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.moments import By
from gibbsppl.schedule.scanning import RandomScan
from gibbsppl.settings import checked_settings

if TYPE_CHECKING:
    from gibbsppl.language import Model


@calls_told(CompileError, approximate=TRUTH, exact=TRUTH)
def compile(  # noqa: A001, PLR0913  (the word of the field; settings, all named at the call)
    model: Model,
    *,
    blocks: Mapping[str | tuple[str, ...], str] | bool = True,
    rewrites: Mapping[str, bool] | bool = True,
    collapse: Sequence[str] = (),
    approximate: bool = False,
    interweave: bool | Sequence[str] = True,
    exact: bool = False,
    order: Sequence[str] = (),
    scan: str | RandomScan = "systematic",
    kernels: Mapping[str, Kernel | OwnKernel] | None = None,
    by: Mapping[str, By] | None = None,
) -> Sampler:
    """The Gibbs sampler of a model: derived, planned, written, loaded.

    Variables with a jointly quadratic log density are drawn jointly, and so are the labels of a
    hidden Markov chain. A scale is drawn with its locations integrated out, and these right after,
    where that has a closed form (normal-gamma and normal-Wishart priors) and these tell much of it.
    ``blocks={"x": "elements"}`` draws the elements of ``x`` one after the
    other instead, ``{"x": "alone"}`` jointly, but with no other variable,
    ``{("a", "b"): "together"}`` asks for a block, and ``{("a", "b"): "proposed"}`` for proposals
    about the mode of one; ``{"x": "rows"}`` and ``{"x": "matrix"}`` say by which matrix a joint
    draw is made; ``blocks=False`` forbids all. Where a complete
    conditional has no good closed form, data augmentation (an identity of ``gibbsppl.rewrites``)
    may give one: ``rewrites={"Polya-Gamma": True}`` applies a rule wherever it fits, ``False``
    forbids the rule; ``rewrites=False`` forbids all. ``collapse=("theta",)``
    integrates ``theta`` out and draws the labels that depend on it one after the other, or if none
    do, other variables, and then ``theta``; a variable that moves without a closed form see is
    integrated out of them by itself where that pays (``rewrites={"marginal moves": False}``
    forbids it);
    ``approximate=True`` draws all labels at once, each given all previous labels, its own among
    them: near to the posterior, not it (docs/lda.md).
    ``exact=True`` refuses a sampler with a fallback move.
    Locations and scales of groups (``tau`` of ``theta ~ Normal(mu, tau)``) have a non-centred
    update too, with the standardised group held fixed, where the data may say little of each
    element; coefficients of a group's linear predictors are drawn once more with these held fixed.
    ``interweave=("tau",)`` chooses among these updates, ``interweave=False`` leaves all out.

    ``order=("tau", "theta")`` draws these variables (or single steps) first, in that order, then
    all others in the default order; unnamed auxiliary variables come before the steps that read
    them. ``scan="random"`` draws, as a sweep, as many steps as there are, each chosen at random
    (`gp.RandomScan` takes weights); ``"symmetric"`` draws all steps forwards, then backwards.
    ``kernels={"x": gp.RandomWalk()}`` names the kernel of a variable: `gp.Slice`, `gp.RandomWalk`,
    `gp.EllipticalSlice`, `gp.NUTS`, `gp.HMC`, `gp.AdaptiveRejection`, `gp.OverRelaxed`, `gp.Swap`,
    `gp.Proposal`, or a function ``kernel(rng, value, log_density)`` of your own that returns the
    new value; `gp.Cycle` and `gp.Mix` are made of several of these and of `gp.Exact` draws. A key
    ``("x", "y")`` has several variables moved together, by `gp.NUTS` or `gp.HMC`
    (docs/sampling.md).
    ``by={"theta": "mean"}`` reads ``theta`` by the mean of its conditional: all others see its
    moments, where they would see a draw (docs/readings.md); ``"mode"`` puts it to the mode.

    Raises `CompileError` where no sampler can be made, naming the variable and the reason.
    """
    graph = getattr(model, "graph", None)
    if graph is None:
        raise CompileError(f"compile: found {model!r}, expected a gp.Model.")
    settings = checked_settings(
        blocks=blocks, rewrites=rewrites, collapse=collapse, approximate=approximate,
        interweave=interweave, exact=exact, order=order, scan=scan, kernels=kernels, by=by,
    )  # fmt: skip
    read = model.reading if model.reading and model.reading.is_of(graph) else None
    made = compiled(graph, model.data, model.positions, settings, declared=True)
    return replace(made, reading=read)
