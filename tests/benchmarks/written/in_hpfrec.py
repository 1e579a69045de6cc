"""Poisson factorisation by mean-field variational inference of hpfrec, all data at once."""

import numpy as np
import pandas as pd
from hpfrec import HPF
from iterations import from_the_start

PACKAGES = ("hpfrec",)


def factorisation(data):
    """Fits from the start."""
    columns = {"UserId": data["user"], "ItemId": data["item"], "Count": data["count"]}
    table = pd.DataFrame(columns).astype({"Count": np.float32})
    run = {"stop_crit": "maxiter", "ncores": 1, "verbose": False, "reindex": False}
    run |= {"random_seed": 1, "keep_all_objs": False, "save_folder": None}

    def fit(count):
        HPF(k=int(data["factors"]), maxiter=count, check_every=count, **run).fit(table)

    return from_the_start(fit)


WORKLOADS = {f"Poisson factorisation, K = {k}": factorisation for k in (20, 50)}
