"""Posteriors of posteriordb, with the means and standard deviations that it publishes.

posteriordb (M. Magnusson, J. Torgander, P.-C. Bürkner, L. Zhang, B. Carpenter, A. Vehtari, 2024,
"posteriordb: testing, benchmarking and developing Bayesian inference algorithms";
stan-dev/posteriordb) is a set of models with data, and of some with 10,000 draws that are as good
as independent. Models are written here in the language of gibbsppl (`programs`), data are public
(`tables`).

``POSTERIORS`` has those that are here. ``references.json`` has what posteriordb publishes of each
scalar: the mean, its Monte Carlo error, and the mean of the squares, each digit as published
(of errors four).
"""

import json
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from models.posteriordb import programs, tables
from models.posteriordb.programs import Rates, Regression

REFERENCES = Path(__file__).parent / "references.json"


class Posterior(NamedTuple):
    """A posterior: its name in posteriordb, its model, and the row that the model comes from."""

    name: str
    model: Callable
    row: Any = None

    @property
    def references(self):
        """By scalar the mean, its Monte Carlo error, the sd, and by how much that may be rounded.

        Squares are published to a number of digits: half a unit of the last one, in the sd.
        """
        text = REFERENCES.read_text(encoding="utf-8")
        published = json.loads(text, parse_float=Decimal)[self.name]
        return {scalar: _reference(*known) for scalar, known in published.items()}


def _reference(mean, mcse, square):
    sd = float(square - mean**2) ** 0.5
    half = float(Decimal((0, (5,), square.as_tuple().exponent - 1)))
    return {"mean": float(mean), "mcse": float(mcse), "sd": sd, "rounding": half / (2 * sd)}


CAUCHY = ("HalfCauchy", {"scale": 2.5})
CENTRED = {
    "c": tables.at_the_mean,
    "c2": tables.at_a_reference,
    "z": tables.standardised,
}
KIDS = {
    "momiq": "1 mom_iq",
    "momhs": "1 mom_hs",
    "momhsiq": "1 mom_hs mom_iq",
    "interaction": "1 mom_hs mom_iq product",
}
BUSHES = {
    "logmesquite": "1 log_diam1 log_diam2 log_canopy_height log_total_height log_density group",
    "logmesquite_logva": "1 log_volume log_area group",
    "logmesquite_logvas": "1 log_volume log_area log_shape log_total_height log_density group",
    "logmesquite_logvash": "1 log_volume log_area log_shape log_total_height group",
    "logmesquite_logvolume": "1 log_volume",
}
WELLS = {
    "wells_dist": ("1 dist", False, False),
    "wells_dist100_model": ("dist100", True, False),
    "wells_dist100ars_model": ("dist100 arsenic", True, False),
    "wells_interaction_c_model": ("dist100 arsenic product", True, True),
}
REGRESSIONS = {
    **{
        f"kidiq-kidscore_{name}": Regression(tables.kidiq, "kid_score", terms, noise=CAUCHY)
        for name, terms in KIDS.items()
    },
    **{
        f"kidiq_with_mom_work-kidscore_interaction_{name}": Regression(
            partial(tables.kidiq, centre), "kid_score", KIDS["interaction"]
        )
        for name, centre in CENTRED.items()
    },
    "mesquite-mesquite": Regression(
        tables.mesquite, "weight", "1 diam1 diam2 canopy_height total_height density group"
    ),
    **{
        f"mesquite-{name}": Regression(tables.mesquite, "log_weight", terms)
        for name, terms in BUSHES.items()
    },
    **{
        f"{name}-blr": Regression(
            partial(tables.table, name),
            "y",
            "x1 x2 x3 x4 x5",
            sd=10,
            noise=("HalfNormal", {"sigma": 10}),
        )
        for name in ("sblri", "sblrc")
    },
    "arK-arK": Regression(
        tables.lagged, "y", "lag1 lag2 lag3 lag4 lag5", level=True, sd=10, noise=CAUCHY
    ),
    **{
        f"wells_data-{name}": Regression(
            partial(tables.wells, centred), "switch", terms, level=level, noise=None
        )
        for name, (terms, level, centred) in WELLS.items()
    },
    "dogs-dogs": Regression(tables.dogs, "y", "1 avoided shocks", sd=100, noise=None),
}
RATES = {
    "Rate_1_data-Rate_1_model": Rates({"theta": [(5, 10)]}),
    "Rate_2_data-Rate_2_model": Rates({"theta1": [(5, 10)], "theta2": [(7, 10)]}),
    "Rate_3_data-Rate_3_model": Rates({"theta": [(5, 10), (7, 10)]}),
    "Rate_4_data-Rate_4_model": Rates({"theta": [(1, 15)], "thetaprior": []}),
}
OTHERS = {
    "eight_schools-eight_schools_noncentered": programs.schools,
    "radon_mn-radon_pooled": programs.radon,
    "arma-arma11": programs.moving_average,
    "garch-garch11": programs.volatility,
    "gp_pois_regr-gp_regr": programs.gaussian_process,
    "dogs-dogs_hierarchical": programs.avoidance,
    "low_dim_gauss_mix-low_dim_gauss_mix": programs.two_normals,
    "M0_data-M0_model": programs.captures,
}
POSTERIORS = {
    **{name: Posterior(name, row.model, row) for name, row in (REGRESSIONS | RATES).items()},
    **{name: Posterior(name, model) for name, model in OTHERS.items()},
}
