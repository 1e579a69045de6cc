"""Estimates that are asked of draws: quantiles, intervals, how well the model predicts.

Comes in: draws. Goes out: arrays, values that print as tables. These are methods of
`gibbsppl.Draws`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gibbsppl.arguments import COUNT, NAME, NAMES, Kind, is_finite_number
from gibbsppl.errors import RunError
from gibbsppl.output.arrays import Array, Named
from gibbsppl.output.groups import EACH_DRAW
from gibbsppl.output.labels import labelled
from gibbsppl.output.summary import latent_of, place_in, told_apart
from gibbsppl.output.thinning import all_at_once

if TYPE_CHECKING:
    from gibbsppl.output.correlations import Correlations
    from gibbsppl.output.elpd import Elpd, Points

LOG_LIKELIHOOD = "log_likelihood"


def _is_share(value: object) -> bool:
    return is_finite_number(value) and 0 <= value <= 1


SHARE = Kind(_is_share, "a number from 0 to 1")
SHARES = Kind(
    lambda value: _is_share(value)
    or (isinstance(value, Sequence | np.ndarray) and all(map(_is_share, value))),
    "numbers from 0 to 1",
)


# What the methods take, by argument.
OF_ESTIMATES = {
    "quantiles": {"name": NAME, "probs": SHARES},
    "interval": {"name": NAME, "mass": SHARE},
    "correlations": {"names": NAMES.or_none(), "most": COUNT},
    "loo": {"names": NAMES.or_none()},
    "waic": {"names": NAMES.or_none()},
}


class Estimating:
    """Estimates that can be asked of draws beside their summary."""

    __slots__ = ()
    coords: Mapping[str, Array]
    observed_data: Mapping[str, Named]
    groups: Mapping[str, Any]

    def stacked(self, name: str) -> Array:
        """The draws of all chains in one axis, the first."""
        raise NotImplementedError

    def with_groups(self, **groups: Any) -> Self:
        """The draws with other draws that belong to them, by ArviZ's names of groups.

        Names: ``log_likelihood``, ``posterior_predictive``, ``predictions``, which have one for
        each of these draws, ``prior`` and ``prior_predictive``. `to_datatree` and files have all.
        ``sampler.with_groups`` computes most of them. Raises `RunError` for other names, and other
        numbers of chains and draws.

        >>> import gibbsppl as gp
        >>> draws = gp.Draws({"x": np.zeros((2, 10))})
        >>> list(draws.with_groups(predictions=gp.Draws({"y": np.ones((2, 10))})).groups)
        ['predictions']
        """
        own: Any = self
        every = all_at_once(own.every, own)
        sizes = {(own.chains, own.draws), (own.chains, own.draws // every)}
        for name, one in groups.items():
            if name in EACH_DRAW and (one.chains, one.draws) not in sizes:
                raise RunError(
                    f"groups[{name!r}]: found (chain, draw) {(one.chains, one.draws)}, expected "
                    f"{(own.chains, own.draws)}: one for each draw."
                )
        found: Self = replace(own, groups={**self.groups, **groups})
        return found

    def quantiles(self, name: str, probs: float | Sequence[float] = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of a variable, over all draws: an array with axes (probability, *dims).

        ``probs`` are probabilities; of one, not in a list, the result has the variable's shape.

        >>> import gibbsppl as gp
        >>> draws = gp.Draws({"x": np.arange(202.0).reshape(2, 101, 1)}, {"x": ("k",)})
        >>> draws.quantiles("x", [0.5, 1.0])
        array([[100.5],
               [201. ]])
        """
        found: Array = np.quantile(self.stacked(name), np.asarray(probs, dtype=float), axis=0)
        return found

    def interval(self, name: str, mass: float = 0.9) -> Array:
        """The central interval of a variable that has so much of its draws: axes (end, *dims).

        >>> import gibbsppl as gp
        >>> gp.Draws({"x": np.linspace(0, 1, 101)[None]}).interval("x", 0.9).round(6)
        array([0.05, 0.95])
        """
        return self.quantiles(name, ((1 - mass) / 2, (1 + mass) / 2))

    def correlations(
        self, names: str | Sequence[str] | None = None, *, most: int = 10
    ) -> Correlations:
        """The pairs of elements that are correlated most, as a table, over all draws.

        A Gibbs sampler mixes slowly where elements that it draws one given another are correlated:
        draw these jointly, or write the model otherwise. ``names`` chooses variables; ``most`` is
        how many pairs. Raises `RunError` for more than 5000 elements.

        >>> import gibbsppl as gp
        >>> x = np.random.default_rng(1).normal(size=(2, 100))
        >>> gp.Draws({"x": x, "y": 3 - x}).correlations()
        x  y  -1.00
        """
        from gibbsppl.output.correlations import correlations_of  # noqa: PLC0415  (when asked for)

        own: Any = self
        chosen = [names] if isinstance(names, str) else names
        return correlations_of(own.together(chosen).elements(), most)

    def elements(self) -> dict[str, Array]:
        """The draws of each element that is not observed, in one axis, by its label.

        >>> import gibbsppl as gp
        >>> list(gp.Draws({"x": np.zeros((2, 10, 2))}, {"x": ("k",)}).elements())
        ['x[0]', 'x[1]']
        """
        own: Any = self
        labels, rows = [], []
        for name in own:
            array, label = own.stacked(name), labelled(name, own.dims_of(name), self.coords)
            _, observed = self.observed_data.get(name, ((), None))
            for number in latent_of(array.shape[1:], observed):
                place = place_in(array.shape[1:], number)
                labels.append((label(place), place))
                rows.append(array[(slice(None), *place)])
        return dict(zip(told_apart(labels), rows, strict=True))

    def loo(self, names: str | Sequence[str] | None = None) -> Elpd:
        """How well each observation is predicted by all others: the leave-one-out elpd, printed.

        By Pareto smoothed importance sampling, without another run; where the shapes k of the
        weights are too large to trust it, ``bad`` and the printed table name the observations.
        The draws have the log likelihood, by ``sampler.log_likelihood(draws)``. ``names`` chooses
        among the observed variables, by default all. Raises `RunError` without a log likelihood,
        and for fewer than 25 draws.

        >>> import gibbsppl as gp
        >>> with gp.Model(coords={"i": 3}) as model:
        ...     mu = gp.Normal("mu", 0, sigma=1)
        ...     y = gp.Normal("y", mu, sigma=1, dims="i", observed=[1.0, -1.0, 0.5])
        >>> sampler = gp.compile(model)
        >>> draws = sampler.log_likelihood(sampler.sample(seed=1, progress=False))
        >>> print(round(draws.loo().elpd, 1))
        -4.6
        """
        from gibbsppl.output.elpd import leave_one_out  # noqa: PLC0415  (only when asked for)

        return leave_one_out(self._points(names))

    def waic(self, names: str | Sequence[str] | None = None) -> Elpd:
        """The widely applicable information criterion, as an elpd: `loo` is more robust.

        Arguments and errors are those of `loo`.
        """
        from gibbsppl.output.elpd import widely_applicable  # noqa: PLC0415  (only when asked for)

        return widely_applicable(self._points(names))

    def _points(self, names: str | Sequence[str] | None) -> Points:
        from gibbsppl.output.elpd import Points  # noqa: PLC0415  (only when asked for)

        if LOG_LIKELIHOOD not in self.groups:
            raise RunError(
                "draws: found no log likelihood of the observations, which loo and waic are made "
                "of; compute it first: draws = sampler.log_likelihood(draws)."
            )
        found = self.groups[LOG_LIKELIHOOD]
        if names is not None:
            found = found.only([names] if isinstance(names, str) else names)
        observed = {n: self.observed_data[n] for n in found if n in self.observed_data}
        return Points(found.values, {n: found.dims_of(n) for n in found}, found.coords, observed)
