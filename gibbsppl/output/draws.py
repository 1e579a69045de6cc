"""The draws of a run, with dimensions, coordinates and data.

Comes in: arrays with axes (chain, draw, ...). Goes out: summaries, an ``xarray.DataTree`` in
ArviZ's layout, a netCDF file, and back.

>>> rng = np.random.default_rng(1)
>>> draws = Draws(
...     values={"theta": rng.normal([1.0, 2.0], size=(4, 500, 2))},
...     dims={"theta": ("school",)},
...     coords={"school": np.array(["Choate", "Deerfield"])},
... )
>>> draws
4 chains, 500 draws each
theta (school: 2)
>>> round(draws.summary()["theta[Deerfield]"]["mean"], 1)
2.0
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.arguments import (
    COUNT,
    NAME,
    NAMES,
    PATH,
    POSITIVE,
    methods_told,
)
from gibbsppl.errors import RunError, counted, did_you_mean
from gibbsppl.html import Printed
from gibbsppl.output.arrays import Array, Attributes, Named, for_arithmetic
from gibbsppl.output.checked import FIELDS, check
from gibbsppl.output.diagnostics import PROBS
from gibbsppl.output.ends import Ends
from gibbsppl.output.estimates import OF_ESTIMATES, SHARES, Estimating
from gibbsppl.output.groups import EACH_DRAW
from gibbsppl.output.labels import Labeller, labelled
from gibbsppl.output.monitored import AllMonitored
from gibbsppl.output.shares import names_of
from gibbsppl.output.summary import Block, Summary, block_of, told_apart
from gibbsppl.output.thinning import Every, all_at_once, most_often, rarer

if TYPE_CHECKING:
    import xarray as xr
    from arviz import InferenceData

    from gibbsppl.output.plots import DrawsPlot

# In sample_stats, before the name of what is moved: the share of steps that are accepted; of paths
# by gradients the number of points, and the share that diverged.
STATISTICS = {
    "accepted": "acceptance of ", "points": "points of ", "diverged": "divergence of ",
}  # fmt: skip


@methods_told(
    RunError,
    __init__=FIELDS,
    __getitem__={"name": NAME},
    stacked={"name": NAME},
    only={"names": NAMES},
    thinned={"every": COUNT},
    together={"names": NAMES.or_none()},
    starts={"chains": COUNT},
    summary={"names": NAMES.or_none(), "max_rows": COUNT.or_none(), "probs": SHARES},
    plot={"names": NAMES.or_none(), "rows": POSITIVE},
    save={"path": PATH},
    save_coda={"prefix": PATH},
    **OF_ESTIMATES,
)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Draws(Estimating, Printed):
    """The draws of a run, by variable, with dimensions, coordinates, data and statistics.

    ``values``: arrays with axes (chain, draw, *dims); whole numbers may be of a small integer type,
    whose products wrap around: compute with ``draws["n"].astype(int)``. ``dims``: the names of a
    variable's own dimensions (none for a scalar, which may be missing here). ``every``: of how many
    draws of a chain one is kept, of variables that have not all; `together` has the draws that
    all of some variables have. ``coords``: the labels
    along a dimension (missing: positions). ``observed_data`` and ``constant_data``: dims and array.
    ``sample_stats``: arrays with axes (chain, draw). ``attributes``: numbers and texts, such as
    the seed, that say how the draws were made. ``ends``: where the chains have ended, for
    ``sampler.extend``; None where draws were chosen among those of a run. ``monitored``: statistics
    of what a run was to monitor, by name, without draws. ``groups``: draws that belong to these, by
    ArviZ's name of their group: ``log_likelihood``, ``posterior_predictive``, ``prior``...
    """

    values: Mapping[str, Array]
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coords: Mapping[str, Array] = field(default_factory=dict)
    observed_data: Mapping[str, Named] = field(default_factory=dict)
    constant_data: Mapping[str, Named] = field(default_factory=dict)
    sample_stats: Mapping[str, Array] = field(default_factory=dict)
    attributes: Attributes = field(default_factory=dict)
    ends: Ends | None = None
    monitored: AllMonitored = field(default_factory=AllMonitored)
    every: Every = field(default_factory=dict)
    groups: Mapping[str, Draws] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check(self)

    @property
    def chains(self) -> int:
        """The number of chains."""
        return int(next(iter(self.values.values())).shape[0])

    @property
    def draws(self) -> int:
        """The number of draws of each chain: of variables that have all."""
        return int(max(array.shape[1] for array in self.values.values()))

    def dims_of(self, name: str) -> tuple[str, ...]:
        """The names of a variable's own dimensions, chain and draw left out."""
        return tuple(self.dims.get(name, ()))

    def __getitem__(self, name: str) -> Array:
        if name not in self.values:
            known = ", ".join(self.values)
            raise RunError(f"draws: found no variable {name!r}, only {known}."
                f"{did_you_mean(name, self.values)}"
                f"{self.left_out and ' ' + self.left_out}")
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        title = f"{counted(self.chains, 'chain')}, {counted(self.draws, 'draw')} each"
        lines = [title, *(self._described(name) for name in self.values)]
        lines += [f"{named(name, one.dims, one.shape)}, monitored"
                  for name, one in self.monitored.items()]  # fmt: skip
        lines += [f"with {', '.join(self.groups)}"] if self.groups else []
        notes = self.until and f"ended by its rule, {self.until}", self.left_out, self.interrupted
        return "\n".join([*lines, *filter(None, notes)])

    def _repr_html_(self) -> str:
        from gibbsppl.output.pages import draws_page  # noqa: PLC0415  (only in notebooks)

        return draws_page(self)

    @property
    def interrupted(self) -> str | None:
        """The part of the run that Ctrl-C has left out, as text; None after a whole run."""
        return self.attributes.get("interrupted")

    @property
    def until(self) -> str | None:
        """What a rule that ends a run (`gp.until`) has found, as text; None without a rule."""
        return self.attributes.get("until")

    @property
    def left_out(self) -> str:
        """The arrays that the run did not record by default, and how to have them; else empty."""
        return self.attributes.get("left_out") or ""

    def _described(self, name: str) -> str:
        told = f", one draw in {self.every[name]}" if name in self.every else ""
        return named(name, self.dims_of(name), self.values[name].shape[2:]) + told

    def stacked(self, name: str) -> Array:
        """The draws of all chains in one axis, the first.

        >>> Draws({"x": np.zeros((4, 100, 3))}, {"x": ("k",)}).stacked("x").shape
        (400, 3)
        """
        array = self[name]
        return array.reshape(-1, *array.shape[2:])

    def at(self, name: str, rows: Array | int) -> Array:
        """Some draws to compute with, counted through all chains; whole numbers have 64 bits.

        >>> draws = Draws({"x": np.arange(6, dtype=np.int8).reshape(2, 3)})
        >>> draws.at("x", 4), draws.at("x", np.array([0, 3]))
        (np.int64(4), array([0, 3]))
        """
        if self.every.get(name, 1) > 1:
            raise RunError(
                f"draws: {name} has one draw in {self.every[name]}; take those that all variables "
                "have, as in draws.together([...])."
            )
        chain, draw = np.divmod(rows, self.draws)
        return for_arithmetic(self[name][chain, draw])

    def starts(self, chains: int) -> list[dict[str, Array]]:
        """A draw for each of some chains to start from, evenly spread: ``sample(start=draws)``.

        >>> [s["x"] for s in Draws({"x": np.arange(6.0).reshape(2, 3)}).starts(3)]
        [np.float64(1.0), np.float64(3.0), np.float64(5.0)]
        """
        whole = self.together()
        rows = (2 * np.arange(chains) + 1) * whole.chains * whole.draws // (2 * chains)
        return [{name: whole.at(name, int(row)) for name in whole} for row in rows]

    def only(self, names: Sequence[str]) -> Draws:
        """The draws of some variables, in the order of ``names``.

        >>> Draws({"x": np.zeros((4, 100)), "y": np.ones((4, 100))}).only(["y"])
        4 chains, 100 draws each
        y
        """
        values = {name: self[name] for name in names}
        every = {n: k for n, k in self.every.items() if n in values}
        if (often := most_often(every, values)) > 1:
            return self._thinned(often, values)
        ends = self.ends if set(names) == set(self.values) else None
        return replace(self, values=values, ends=ends, every=every)

    def together(self, names: Sequence[str] | None = None) -> Draws:
        """The draws that all of some variables have (default: all variables), with these alone.

        Those that a function of several variables can be computed of.

        >>> rng = np.random.default_rng(1)
        >>> values = {"mu": rng.normal(size=(4, 100)), "z": rng.normal(size=(4, 10))}
        >>> draws = Draws(values, every={"z": 10})
        >>> draws
        4 chains, 100 draws each
        mu
        z, one draw in 10
        >>> draws.together()["mu"].shape, draws.together(["mu"])["mu"].shape
        ((4, 10), (4, 100))
        """
        found = self if names is None else self.only(names)
        return found.thinned(all_at_once(found.every, found)) if found.every else found

    def thinned(self, every: int) -> Draws:
        """One draw in ``every``: the last of each group of consecutive draws."""
        if not 1 <= every <= self.draws:
            raise RunError(f"every: found {every}, expected 1 to {self.draws} (all draws).")
        return self._thinned(every, self.values)

    def _thinned(self, every: int, values: Mapping[str, Array]) -> Draws:
        """One draw in ``every`` of some variables."""
        steps, left = rarer(self.every, values, every)
        row = np.s_[:, every - 1 :: every]
        return replace(
            self,
            values={n: array[:, steps[n] - 1 :: steps[n]] for n, array in values.items()},
            every=left,
            sample_stats={name: array[row] for name, array in self.sample_stats.items()},
            attributes={**self.attributes, "thin": every * self.attributes.get("thin", 1)},
            ends=None,
            groups={n: self._group_thinned(n, every) for n in self.groups},
        )

    def _group_thinned(self, name: str, every: int) -> Draws:
        """The draws of a group that belong to one draw in ``every``, if it has one for each."""
        own = self.groups[name]
        is_of_each = name in EACH_DRAW and own.draws == self.draws
        return own.thinned(every) if is_of_each else own

    def summary(
        self,
        names: str | Sequence[str] | None = None,
        *,
        max_rows: int | None = 10,
        probs: Sequence[float] = PROBS,
    ) -> Summary:
        """Mean, sd, quantiles, Monte Carlo error, ESS and R-hat, as a table.

        ``names`` chooses variables. A variable with more than ``max_rows`` elements is shown by
        its first and last ones; ``None`` shows all. ``probs`` are the probabilities of the
        quantiles. Elements that were observed are no parameters, and left out. A label has a row
        for each of those drawn, the most frequent first, ``z[3] = red``: its mean is their share.
        """
        if max_rows is not None and max_rows < 1:
            raise RunError(f"max_rows: found {max_rows}, expected at least 1, or None for all.")
        chosen = (names,) if isinstance(names, str) else names or tuple(self.values)
        accepted = {n: float(min(m)) for n, m in self._means("accepted", chosen).items()}
        lost = self._means("diverged", chosen)
        points = self._means("points", chosen)
        paths = {n: (float(max(m)), float(max(lost[n]))) for n, m in points.items()}
        try:
            blocks = tuple(self._block(n, max_rows, probs) for n in chosen)
        except MemoryError as error:
            raise RunError(
                "summary: found too little memory for all elements; the draws are left as they "
                "are: name some variables, as in summary(names=[...])."
            ) from error
        told = self.attributes.get("tempered")
        return Summary(blocks, self.chains, self.draws, accepted, self.interrupted, told, paths)

    def _block(self, name: str, max_rows: int | None, probs: Sequence[float]) -> Block:
        """The rows of one variable in a summary."""
        _, observed = self.observed_data.get(name, ((), None))
        own, chosen = (self[name], self._labeller(name), max_rows), tuple(np.atleast_1d(probs))
        # (what is known of labels by probabilities has no labels as its values)
        has_labels = np.issubdtype(self[name].dtype, np.integer)
        names = names_of(name, self.attributes, self.coords) if has_labels else None
        return block_of(name, *own, probs=chosen, observed=observed, names=names)

    def plot(self, names: str | Sequence[str] | None = None, *, rows: int = 4) -> DrawsPlot:
        """Traces and rank plots of the worst elements, by R-hat and effective sample size.

        ``names`` chooses variables, ``rows`` how many elements are shown. Ranks of a chain are
        spread evenly where chains agree: counts inside of the band. The picture, which notebooks
        show, has a ``.figure`` of matplotlib, and is written by ``.save("draws.png")``.

        >>> noise = np.random.default_rng(1).normal(size=(4, 100))
        >>> Draws({"x": noise, "stuck": noise + [[0.0], [0.0], [0.0], [3.0]]}).plot(rows=1)
        <Traces and ranks of stuck>
        """
        from gibbsppl.output.plots import plot_of  # noqa: PLC0415  (only when asked for)
        from gibbsppl.output.worst import worst_elements  # noqa: PLC0415

        chosen = (names,) if isinstance(names, str) else names or tuple(self.values)
        worst = worst_elements({n: self[n] for n in chosen}, self._labelled, rows)
        of = ", ".join(chosen) if len(chosen) <= 6 else counted(len(chosen), "variable")
        return plot_of(worst, f"the worst of {of}: {len(worst)} shown")

    def _labelled(self, name: str, place: tuple[int, ...]) -> str:
        return self._labeller(name)(place)

    def _means(self, what: str, names: Iterable[str]) -> dict[str, list[float]]:
        """The means of a statistic of each move of some variables over the draws of each chain."""
        found = {}
        for name, rates in self.sample_stats.items():
            moved = name.removeprefix(STATISTICS[what])
            # (a step of several arrays has the names of all)
            parts = moved.split(", ")
            is_of = any(p == n or p.startswith((f"{n}[", f"{n} ")) for p in parts for n in names)
            if moved != name and is_of and np.isfinite(rates).any():
                # (of a chain that never came to a part of a mixture there is no share)
                seen = (own[np.isfinite(own)] for own in rates)
                found[moved] = [own.mean() for own in seen if own.size]
        return found

    def _labeller(self, name: str) -> Labeller:
        """From a position in the variable to its label, ``theta[Choate, 3]``."""
        return labelled(name, self.dims_of(name), self.coords)

    def to_datatree(self) -> xr.DataTree:
        """The draws as an ``xarray.DataTree`` in ArviZ's layout, one group per kind of array."""
        tree: xr.DataTree = _output().to_datatree(self)
        return tree

    def to_arviz(self) -> xr.DataTree | InferenceData:
        """The draws as ArviZ holds them: ``InferenceData`` before version 1, else a DataTree."""
        found: xr.DataTree | InferenceData = _output().to_arviz(self)
        return found

    def save_coda(self, prefix: str | PathLike[str]) -> tuple[Path, ...]:
        """Write text files of the CODA format, ``<prefix>index.txt`` and ``<prefix>chain1.txt``...

        R's ``coda::read.coda`` and other programs made for BUGS and JAGS read these files.
        """
        from gibbsppl.output.coda import write_coda  # noqa: PLC0415  (only when asked for)

        places = [(n, at) for n, array in self.values.items() for at in np.ndindex(array.shape[2:])]
        texts = (" ".join(self._labeller(n)(at).split()).replace(", ", ",") for n, at in places)
        labels = told_apart([(text, at) for text, (_, at) in zip(texts, places, strict=True)])
        drawn = ((self.every.get(n, 1), self.values[n][(..., *at)]) for n, at in places)
        values = dict(zip(labels, drawn, strict=True))
        thin, warmup = (int(self.attributes.get(n, k)) for n, k in (("thin", 1), ("warmup", 0)))
        return write_coda(prefix, values, warmup=warmup, thin=thin)

    def save(self, path: str | PathLike[str]) -> None:
        """Write draws and data to a netCDF file, whole or not at all; ``load_draws`` reads it."""
        from gibbsppl.output.netcdf import written  # noqa: PLC0415  (only when asked for)
        from gibbsppl.output.whole_files import whole  # noqa: PLC0415

        found = written(self)
        content = _output().written(self) if found is None else found
        with whole(path) as (unfinished,):
            unfinished.write_bytes(content)


def draws_in(path: str | PathLike[str]) -> Draws:
    """The draws in a netCDF file written by ``Draws.save``."""
    fields = _output().fields_of(path)
    groups = {name: Draws(**own) for name, own in fields.pop("groups").items()}
    return Draws(**fields, groups=groups)


def _output() -> ModuleType:
    """The module that needs xarray, whose import takes longer than many a run."""
    from gibbsppl.output import files as output  # noqa: PLC0415  (xarray at first use only)

    return output


def named(name: str, dims: tuple[str, ...], shape: tuple[int, ...]) -> str:
    """A variable with its dims and their sizes.

    >>> named("theta", ("school",), (8,))
    'theta (school: 8)'
    """
    sizes = (f"{d}: {n}" for d, n in zip(dims, shape, strict=True))
    return f"{name} ({', '.join(sizes)})" if shape else name
