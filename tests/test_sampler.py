"""What a user holds: bad requests are named before any work is done."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.sampling.resuming import load_draws


def coin():
    with gp.Model(name="coin") as model:
        p = gp.Beta("p", 1, 1)
        gp.Binomial("heads", 10, p, observed=7)
    return model


def test_only_models_are_compiled():
    with pytest.raises(gp.CompileError, match=r"^compile: found 3, expected a gp\.Model\.$"):
        gp.compile(3)


def test_blocks_of_unknown_variables_or_kinds():
    with pytest.raises(gp.CompileError, match=r"^blocks: 'q' is not a latent variable"):
        gp.compile(coin(), blocks={"q": "elements"})
    with pytest.raises(gp.CompileError, match=r"^blocks\['p'\]: found 'jointly'"):
        gp.compile(coin(), blocks={"p": "jointly"})
    with pytest.raises(gp.CompileError, match=r"^blocks: found 3, expected a dict from names"):
        gp.compile(coin(), blocks=3)


def test_exact_samplers_refuse_fallbacks():
    with gp.Model() as model:
        mu = gp.Uniform("mu", 0, 10)
        gp.StudentT("y", nu=3, mu=mu, tau=1, observed=1.0)

    with pytest.raises(gp.CompileError, match=r"^exact=True, but .*\n  mu: no family on \(0, 10\)"):
        gp.compile(model, exact=True, rewrites=False)
    assert gp.compile(coin(), exact=True).schedule.fallbacks == ()


def test_nothing_to_draw_or_to_keep():
    with gp.Model(name="known") as model:
        gp.Normal("y", 0, sigma=1, observed=1.0)

    with pytest.raises(gp.RunError, match=r"^known: there is nothing to draw or to keep"):
        gp.compile(model).sample(10)
    with pytest.raises(gp.RunError, match=r"^coin: there is nothing to draw or to keep"):
        gp.compile(coin()).sample(10, keep=[])


def test_the_posterior_of_a_coin():
    draws = gp.compile(coin()).sample(2000, warmup=100, chains=2, seed=1, progress=False)
    p = draws["p"].ravel()

    # Beta(8, 4), whose draws here are independent.
    assert abs(p.mean() - 8 / 12) < 4 * p.std() / np.sqrt(p.size)
    assert draws.attributes["seed"] == 1


def test_files_that_are_no_draws(tmp_path):
    with pytest.raises(gp.RunError, match=r"absent\.nc: found no file or folder"):
        load_draws(tmp_path / "absent.nc")
    other = tmp_path / "text.nc"
    other.write_text("no netCDF")
    with pytest.raises(gp.RunError, match=r"text\.nc: not a file that Draws\.save wrote"):
        load_draws(other)
