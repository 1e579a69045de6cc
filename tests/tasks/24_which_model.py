"""A line or a parabola? Leave-one-out, the difference and its standard error."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(24)
x = np.linspace(-1, 1, 120)
y = 1 + x + 1.5 * x**2 + rng.normal(0, 0.4, 120)


def sampler_of(degree):
    with gp.Model(coords={"power": degree + 1}) as model:
        powers = gp.Data("powers", np.vander(x, degree + 1), dims=("i", "power"))
        b = gp.Normal("b", 0, sigma=5, dims="power")
        sigma = gp.HalfNormal("sigma", sigma=1)
        gp.Normal("y", gp.sum(powers * b, "power"), sigma=sigma, dims="i", observed=y)
    return gp.compile(model)


# task
fits = {}
for name, degree in {"line": 1, "parabola": 2}.items():
    sampler = sampler_of(degree)
    fits[name] = sampler.log_likelihood(sampler.sample(500, seed=1, progress=False))
compared = gp.compare_models(fits)
# done

assert compared.best == "parabola"
assert compared["line"].difference < -4 * compared["line"].difference_se
