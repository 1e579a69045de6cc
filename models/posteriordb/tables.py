"""The data of the posteriors, as arrays by column, with what the published programs compute first.

Each file of ``data/`` is a table of public numbers:

- ``kidiq``, ``radon_mn``, ``wells``: as in the R package rstanarm (Gelman and Hill, 2007, "Data
  Analysis Using Regression and Multilevel/Hierarchical Models"; the National Longitudinal Survey of
  Youth; the radon survey of the U.S. EPA, here the homes of Minnesota; wells of Araihazar).
- ``mesquite``: Freund and Minton (1979), from the examples of Gelman, Hill and Vehtari (2020),
  "Regression and Other Stories". ``group`` is 1 for the second series.
- ``ar5``, ``arma``, ``garch``, ``gaussian_process``: simulated, by the authors of the benchmarks of
  Stan (stan-dev/stat_comp_benchmarks), rounded to six decimals (``garch``: to five).
- ``two_normals``: simulated in R: ``set.seed(689934); z <- rbinom(1000, 1, 0.4) + 1; rnorm(1000,
  c(-2.75, 2.75)[z], 1)`` (M. Betancourt, "Identifying Bayesian mixture models").
- ``sblri``, ``sblrc``: simulated in R by the script of posteriordb with the seeds 4711 and 4712, to
  nine digits.
- ``captures``: how often each of 87 animals was caught on three occasions, and 150 zeros, from
  Kéry and Schaub (2012), "Bayesian Population Analysis using WinBUGS", chapter 6.
- ``dogs``: whether each of 30 dogs was shocked in each of 25 trials (Solomon and Wynne, 1953), as
  in Gelman and Hill (2007), chapter 24; those of the BUGS volumes differ in six places.
"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "data"


def table(name):
    """The columns of a file."""
    rows = np.genfromtxt(FOLDER / f"{name}.csv", delimiter=",", names=True)
    return {column: rows[column] for column in rows.dtype.names}


def kidiq(centre=None):
    """Test scores of children; mothers' schooling and IQ less a centre, and their product.

    ``centre`` is of the columns ``mom_hs`` and ``mom_iq`` to pairs of what is subtracted and what
    it is divided by then.
    """
    columns = table("kidiq")
    for name in ("mom_hs", "mom_iq"):
        less, scale = centre(columns[name], name) if centre else (0, 1)
        columns[name] = (columns[name] - less) / scale
    return columns | {"product": columns["mom_hs"] * columns["mom_iq"]}


def at_the_mean(x, _):
    """Columns less their mean."""
    return x.mean(), 1


def at_a_reference(_, name):
    """Columns less a value that readers know."""
    return {"mom_hs": 0.5, "mom_iq": 100}[name], 1


def standardised(x, _):
    """Columns less their mean, divided by two standard deviations."""
    return x.mean(), 2 * x.std(ddof=1)


def mesquite():
    """The leaves of mesquite bushes, with logarithms of sizes."""
    columns = table("mesquite")
    logs = {f"log_{n}": np.log(x) for n, x in columns.items() if n != "group"}
    area = logs["log_diam1"] + logs["log_diam2"]
    shape = logs["log_diam1"] - logs["log_diam2"]
    logs |= {"log_area": area, "log_shape": shape, "log_volume": area + logs["log_canopy_height"]}
    return columns | logs


def wells(centred=False):
    """Who switched to another well; distances in metres and in 100 metres."""
    columns = table("wells")
    columns["dist100"] = columns["dist"] / 100
    if centred:
        for name in ("dist100", "arsenic"):
            columns[name] = columns[name] - columns[name].mean()
    return columns | {"product": columns["dist100"] * columns["arsenic"]}


def lagged(order=5):
    """A series with its own values one to five earlier."""
    y = table("ar5")["y"]
    lags = {f"lag{k}": y[order - k : len(y) - k] for k in range(1, order + 1)}
    return {"y": y[order:]} | lags


def dogs():
    """Whether a dog was shocked in a trial, how often it had avoided shocks and been shocked."""
    shocked = np.loadtxt(FOLDER / "dogs.csv", delimiter=",", dtype=int)
    shocks = np.cumsum(shocked, axis=1) - shocked
    avoided = np.cumsum(1 - shocked, axis=1) - (1 - shocked)
    return {n: x.ravel() for n, x in (("y", shocked), ("avoided", avoided), ("shocks", shocks))}
