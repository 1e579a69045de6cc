"""Bivariate Gaussian: two standard normals with correlation rho, drawn one given the other.

    x1 ~ Normal(0, 1),   x2 | x1 ~ Normal(rho x1, 1 - rho**2)

The textbook picture of a Gibbs sampler: from (x1, x2) it steps along one axis, then along the
other, and the successive values of ``x1`` have correlation rho**2. See G. Casella and E. I. George
(1992), "Explaining the Gibbs sampler", The American Statistician 46, 167-174. With ``form="joint"``
the same distribution is one MvNormal; to see the same walk, ask for its elements one by one:
``gp.compile(model(form="joint"), blocks={"x": "elements"})``.
"""

import numpy as np

import gibbsppl as gp

RHO = 0.8

# Exact: there are no data.
REFERENCE = {
    "x1": (0.0, 0.0),
    "x2": (0.0, 0.0),
    "x1 squared": (1.0, 0.0),
    "x2 squared": (1.0, 0.0),
    "x1 x2": (RHO, 0.0),
}


def model(rho=RHO, form="conditional"):
    """Two correlated normals, ``"conditional"`` (x2 given x1) or ``"joint"`` (one MvNormal)."""
    with gp.Model(coords={"axis": ["x1", "x2"]}) as gaussian:
        if form == "joint":
            cov = gp.Data("cov", [[1, rho], [rho, 1]], dims=("axis", "axis'"))
            gp.MvNormal("x", 0, cov=cov, dims="axis", event="axis")
        else:
            correlation = gp.Data("rho", rho)
            x1 = gp.Normal("x1", 0, tau=1)
            gp.Normal("x2", correlation * x1, var=1 - correlation**2)
    return gaussian


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    joint = "x" in draws
    x1, x2 = np.moveaxis(draws["x"], -1, 0) if joint else (draws["x1"], draws["x2"])
    return {"x1": x1, "x2": x2, "x1 squared": x1**2, "x2 squared": x2**2, "x1 x2": x1 * x2}
