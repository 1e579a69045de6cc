"""The generated source: it stands alone, is the same each time, keeps the user's names, hoists.

The golden files in ``tests/golden/source`` are to be read like source that a person wrote.
"""

import ast
import pickle
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from forms import form_named
from scipy import special

import gibbsppl as gp
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.model.density import log_density
from gibbsppl.model.stand_ins import with_stand_ins

GOLDEN = ("pumps", "growth_curves", "factorisation", "topics", "random_walk", "wishart")

# Compiled sources run where nothing but NumPy, SciPy and the runtime can be imported.
ALONE = """
import pickle, sys
from importlib.abc import MetaPathFinder

class Refused(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        allowed = ("gibbsppl", "gibbsppl.runtime", "gibbsppl.errors")
        ours = name.startswith("gibbsppl") and not name.startswith("gibbsppl.runtime.")
        if name.split(".")[0] in ("sympy", "networkx", "xarray") or (ours and name not in allowed):
            raise ImportError("refused: " + name)

sys.meta_path.insert(0, Refused())
import numpy as np

found = []
for source, data, state in pickle.load(sys.stdin.buffer):
    module = {"__name__": "generated"}
    exec(compile(source, "generated", "exec"), module)
    constants = module["prepare"](data)
    rng = np.random.default_rng(3)
    for _ in range(3):
        module["sweep"](rng, state, constants)
    values = {k: np.asarray(v) for k, v in state.items() if not k.startswith("~")}
    found.append((values, module["deterministics"](state, constants)))
assert not {"sympy", "networkx", "xarray"} & set(sys.modules)
sys.stdout.buffer.write(pickle.dumps(found))
"""


@pytest.fixture(scope="module")
def samplers():
    """Every form that compiles."""
    return {name: form_named(name).compiled() for name in ALONE_FORMS}


ALONE_FORMS = (
    "pumps", "growth_curves", "factorisation", "topics", "random_walk", "wishart",
    "inverse_wishart",
    "hidden_markov", "ising", "logistic_regression", "missing_in_a_table", "truncated_prior",
    "unknown_counts", "names_that_are_no_identifiers", "volatility", "laplace_location",
)  # fmt: skip


def start(sampler, seed=1):
    (chain,), _ = sampler.initial_states(1, seed)
    return chain.state


def swept(sampler, sweeps=3):
    state = start(sampler)
    rng = np.random.default_rng(3)
    for _ in range(sweeps):
        sampler.program.sweep(rng, state, sampler.constants)
    return {k: np.asarray(v) for k, v in state.items() if not k.startswith("~")}


def test_sources_run_without_sympy_and_draw_the_same(samplers):
    cases = [(s.source, dict(s.data), start(s)) for s in samplers.values()]
    done = subprocess.run(
        [sys.executable, "-c", ALONE], input=pickle.dumps(cases), capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr.decode()
    for (values, _), (name, sampler) in zip(
        pickle.loads(done.stdout), samplers.items(), strict=True
    ):
        expected = swept(sampler)
        assert set(values) == set(expected), name
        for key in expected:
            np.testing.assert_array_equal(values[key], expected[key], err_msg=f"{name}: {key}")


def test_sources_import_nothing_but_numpy_scipy_and_the_runtime(samplers):
    for name, sampler in samplers.items():
        for node in ast.walk(ast.parse(sampler.source)):
            if isinstance(node, ast.Import):
                found = {a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom):
                found = {node.module} - {"gibbsppl"}
                found |= {f"gibbsppl.{a.name}" for a in node.names if node.module == "gibbsppl"}
            else:
                continue
            assert found <= {"numpy", "scipy", "gibbsppl.runtime"}, (name, found)


def test_sources_have_no_unused_names_and_no_shadowed_ones(samplers):
    """Each assigned local name is read, each parameter keeps its meaning."""
    for name, sampler in samplers.items():
        for function in ast.walk(ast.parse(sampler.source)):
            if not isinstance(function, ast.FunctionDef):
                continue
            names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
            stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
            read = {n.id for n in names if isinstance(n.ctx, (ast.Load, ast.Del))}
            assert stored <= read, (name, function.name, stored - read)
            assert not stored & {"rng", "s", "c", "data", "runtime"}, (name, function.name)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_source_is_the_one_reviewed(samplers, name, golden):
    golden(f"source/{name}.py.txt", samplers[name].source.rstrip("\n"))


def test_lines_of_the_source_are_short_enough_to_read(samplers):
    """The reviewed sources; only a line that is one call or one comment may be longer."""
    for name in GOLDEN:
        for line in samplers[name].source.splitlines():
            assert len(line) <= 160, (name, line)


def test_what_is_computed_once_takes_the_name_of_no_array():
    """``x**2`` is called ``x_2`` where no array of the model is."""
    x = np.array([0.5, -1.0, 2.0])
    with gp.Model() as model:
        first, second = gp.Data("x", x, dims="i"), gp.Data("x_2", x + 3, dims="i")
        a, b = gp.Normal("a", 0, tau=1), gp.Normal("b", 0, tau=1)
        gp.Poisson("y", gp.exp(a * first**2), dims="i", observed=[1, 0, 3])
        gp.Poisson("z", gp.exp(b * second), dims="i", observed=[2, 2, 5])
    sampler = gp.compile(model)

    np.testing.assert_array_equal(sampler.constants["x_2"], x + 3)
    assert sampler.verify().proved


def test_compilations_do_not_touch_one_another():
    alone = {n: form_named(n).compiled().source for n in ("pumps", "topics", "factorisation")}
    first = form_named("pumps").compiled()
    second = form_named("topics").compiled()
    schedules = [first.schedule, second.schedule]
    third = form_named("factorisation").compiled()
    again = [write_numpy(s) for s in schedules]

    assert [first.source, second.source, third.source] == list(alone.values())
    assert again == [first.source, second.source]


def test_the_source_does_not_depend_on_hashes():
    """Sets and dicts of SymPy expressions come in another order in another process."""
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from forms import form_named\n"
        f"for n in {GOLDEN!r}: print(form_named(n).compiled().source)\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True,
        env={"PYTHONHASHSEED": "1", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
    ).stdout  # fmt: skip

    assert there == "".join(f"{form_named(n).compiled().source}\n" for n in GOLDEN)


@pytest.mark.parametrize("name", ["pumps", "topics", "volatility"])
def test_the_same_seed_gives_the_same_draws(name):
    one, two = (
        form_named(name).compiled().sample(20, warmup=5, chains=2, seed=9, progress=False)
        for _ in range(2)
    )
    other = form_named(name).compiled().sample(20, warmup=5, chains=2, seed=10, progress=False)

    for key, values in one.values.items():
        np.testing.assert_array_equal(values, two.values[key])
        assert not np.array_equal(values, other.values[key])
        assert not np.array_equal(values[0], values[1])


def test_a_program_survives_pickling(samplers):
    sampler = samplers["pumps"]
    program = pickle.loads(pickle.dumps(sampler.program))
    state, other = start(sampler), start(sampler)
    sampler.program.sweep(np.random.default_rng(1), state, sampler.constants)
    program.sweep(np.random.default_rng(1), other, program.prepare(sampler.data))

    for key in ("alpha", "beta", "theta"):
        np.testing.assert_array_equal(state[key], other[key])


def test_a_program_lists_its_steps(samplers):
    program = samplers["random_walk"].program

    assert set(program.steps) == {"x[0]", "x[1:]", "tau"}
    assert dict(program.step_variables) == {"x[0]": ("x",), "x[1:]": ("x",), "tau": ("tau",)}
    assert set(program.given_rest) == set(program.steps)


def test_given_rest_does_not_change_the_state(samplers):
    for name, sampler in samplers.items():
        state = start(sampler)
        for i in sampler.schedule.interwoven.values():
            sizes = sampler.schedule.whole.sizes
            state = with_stand_ins(i.stand_ins, {**sampler.data, **state}, sizes)
        before = {k: np.array(v) for k, v in state.items()}
        for step in sampler.program.steps:
            sampler.program.given_rest[step](state, sampler.constants)
        assert set(state) == set(before)
        for key, value in before.items():
            np.testing.assert_array_equal(state[key], value, err_msg=f"{name}: {key}")


def test_a_sweep_changes_no_data(samplers):
    for name, sampler in samplers.items():
        before = {k: np.array(v) for k, v in sampler.data.items()}
        swept(sampler)
        for key, value in before.items():
            np.testing.assert_array_equal(sampler.data[key], value, err_msg=f"{name}: {key}")


def test_natural_parameters_of_whole_arrays_are_plain_numbers_or_full_arrays(samplers):
    """The shape of every drawn array is the declared one, sweep after sweep."""
    for name, sampler in samplers.items():
        shapes = {k: v.shape for k, v in swept(sampler, 1).items()}
        sizes = sampler.graph.sizes
        for key, shape in shapes.items():
            expected = tuple(sizes[d] for d in sampler.graph.variables[key].dims)
            assert shape == expected, (name, key)


# ---- names -----------------------------------------------------------------------------------

AWKWARD = (
    "lambda", "tau.c", "log", "exp", "s", "c", "rng", "data", "at", "eta", "eta_1", "eta_2",
    "runtime", "zeros", "prepare", "sweep", "mu_given_rest", "STEPS", "größe", "2nd", "a b",
    "Groups", "segment_sum", "value", "np", "float", "slice", "tuple", "normal", "log_density",
    "log_weights", "AUXILIARY", "PARTS", "deterministics", "by_g", "None", "_", "range",
)  # fmt: skip


@pytest.mark.parametrize("name", AWKWARD)
def test_any_name_will_do(name):
    """As a location (slice and exact), as data, as an index and as a dim."""
    with gp.Model(coords={"i": 4, "g": 2}) as m:
        group = gp.Index("by", [0, 1, 1, 0], of="g", dims="i")
        x = gp.Normal(name, 0, tau=1, dims="g")
        tau = gp.Gamma("precision", 1, rate=1)
        gp.Normal("y", x[group], tau=tau, dims="i", observed=np.arange(4.0))
        gp.Poisson("z", rate=gp.exp(x), dims="g", observed=[1, 2])
        gp.Deterministic("twice", 2 * gp.log(tau) + x)
    checked(m)

    with gp.Model(coords={"i": 4, "g": 2}) as m:
        known = gp.Data(name, [0.5, 1.0], dims="g")
        group = gp.Index("by", [0, 1, 1, 0], of="g", dims="i")
        x = gp.Normal("x", 0, tau=1, dims="g")
        gp.Normal("y", x[group] * known[group], tau=1, dims="i", observed=np.arange(4.0))
    checked(m)


def checked(model):
    sampler = gp.compile(model)
    found = sampler.verify()
    assert found.proved, f"\n{found}\n{sampler.source}"
    draws = sampler.sample(5, warmup=2, chains=1, seed=1, progress=False)
    assert {s.target.array.name for s in sampler.graph.latent} <= set(draws.values)


@pytest.mark.parametrize("name", ["lambda", "s", "school.id", "2nd", "range"])
def test_any_dimension_will_do(name):
    with gp.Model(coords={name: 3}) as m:
        x = gp.Normal("x", 0, tau=1, dims=name)
        tau = gp.Gamma("tau", 1, rate=1, dims=name)
        gp.Normal("y", x, tau=tau, dims=name, observed=[1.0, 2.0, 3.0])
    checked(m)


def test_names_that_read_alike_stay_apart():
    with gp.Model(coords={"i": 3}) as m:
        a, b, c = (gp.Normal(n, 0, tau=1) for n in ("a.b", "a_b", "a b"))
        gp.Normal("y", a + 2 * b + 3 * c, tau=1, dims="i", observed=[1.0, 2.0, 3.0])
    checked(m)


# ---- hoisting --------------------------------------------------------------------------------


def read_per_sweep(sampler):
    """The entries of the constants that anything but ``prepare`` reads."""
    functions = (
        n for n in ast.parse(sampler.source).body
        if isinstance(n, ast.FunctionDef) and n.name != "prepare"
    )  # fmt: skip
    return {
        n.slice.value
        for f in functions
        for n in ast.walk(f)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == "c"
    }


def elements_read(sampler):
    return max(np.size(sampler.constants[k]) for k in read_per_sweep(sampler))


def wide_regression(rows):
    rng = np.random.default_rng(1)
    with gp.Model(coords={"n": rows, "p": 3}) as m:
        X = gp.Data("X", rng.standard_normal((rows, 3)), dims=("n", "p"))
        tau = gp.Gamma("tau", 1, rate=1)
        beta = gp.Normal("beta", 0, tau=1, dims="p")
        gp.Normal("y", X @ beta, tau=tau, dims="n", observed=rng.standard_normal(rows))
    return gp.compile(m)


def test_coefficients_of_a_regression_read_hoisted_sums_alone():
    sampler = wide_regression(50)
    (function,) = (
        n for n in ast.parse(sampler.source).body
        if isinstance(n, ast.FunctionDef) and n.name == "beta_given_rest"
    )  # fmt: skip
    read = {
        n.slice.value
        for n in ast.walk(function)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == "c"
    }

    assert read
    assert {np.size(sampler.constants[k]) for k in read} == {3, 9}


def grouped(rows):
    rng = np.random.default_rng(1)
    with gp.Model(coords={"g": 4, "n": rows}) as m:
        group = gp.Index("group", rng.integers(0, 4, rows), of="g", dims="n")
        theta = gp.Normal("theta", 0, tau=1, dims="g")
        gp.Normal("y", theta[group], tau=3, dims="n", observed=rng.standard_normal(rows))
    return gp.compile(m)


def poisson_groups(rows):
    rng = np.random.default_rng(1)
    with gp.Model(coords={"g": 4, "n": rows}) as m:
        time = gp.Data("time", rng.random(rows) + 0.1, dims="n")
        group = gp.Index("group", rng.integers(0, 4, rows), of="g", dims="n")
        rate = gp.Gamma("rate", 1, rate=1, dims="g")
        gp.Poisson("y", rate=rate[group] * time, dims="n", observed=rng.integers(0, 9, rows))
    return gp.compile(m)


def tossed(rows):
    with gp.Model(coords={"n": rows}) as m:
        p = gp.Beta("p", 1, 1)
        gp.Bernoulli("y", p, dims="n", observed=np.arange(rows) % 2)
    return gp.compile(m)


@pytest.mark.parametrize("build", [grouped, poisson_groups, tossed])
def test_a_sweep_reads_nothing_that_grows_with_the_data(build):
    sampler = build(500)
    sizes = {k: np.size(sampler.constants[k]) for k in read_per_sweep(sampler)}

    assert max(sizes.values(), default=0) <= 4, sizes


def test_hoisting_changes_no_natural_parameter():
    """With the constants of one data set in the place of another's, the parameters differ."""
    sampler, state = grouped(50), start(grouped(50))
    other = {**sampler.data, "y": sampler.data["y"] + 1}
    program = sampler.program
    eta = program.given_rest["theta"](state, program.prepare(sampler.data))
    moved = program.given_rest["theta"](state, program.prepare(other))
    count = np.bincount(sampler.data["group"], minlength=4)

    np.testing.assert_allclose(moved[0] - eta[0], 3 * count, rtol=1e-12)
    np.testing.assert_allclose(moved[1], eta[1], rtol=1e-12)


def test_a_large_offset_costs_no_digits():
    """At an offset of 1e8 the precision's sum of squares keeps its digits."""
    rng = np.random.default_rng(2)
    noise = rng.standard_normal(100)
    with gp.Model(coords={"n": 100}) as m:
        mu = gp.Normal("mu", 0, tau=1e-20)
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", mu, tau=tau, dims="n", observed=noise + 1e8)
    sampler = gp.compile(m)
    state = {"mu": np.array(1e8 + 0.3), "tau": np.array(1.0)}
    _, rate = sampler.program.given_rest["tau"](state, sampler.constants)
    y = sampler.data["y"]
    exact = -1 - np.sum((y - state["mu"]) ** 2) / 2

    # The data themselves have an error of half a unit in the last place of 1e8, each.
    bound = np.sum(2 * np.abs(y - state["mu"])) * np.spacing(1e8)
    assert abs(rate - exact) <= bound


def test_a_traceback_shows_generated_lines(samplers):
    sampler = samplers["pumps"]
    with pytest.raises(KeyError) as caught:
        sampler.program.sweep(np.random.default_rng(1), {}, sampler.constants)

    assert 's["' in str(caught.traceback[-1].statement)


def test_loading_defines_the_same_program(samplers):
    for sampler in samplers.values():
        assert load(sampler.source).steps == sampler.program.steps


def test_a_position_that_is_computed_once_stays_a_whole_number():
    with gp.Model(coords={"k": 4}) as model:
        x = gp.Normal("x", 0, sigma=1, dims="k")
        c = gp.Normal("c", 0, sigma=1)
        at = gp.Index("at", [0, 3, 3, 1], of="k", dims="k")
        one = gp.Index("one", 3, of="k")
        gp.Poisson("y", gp.exp(c * x.at("k", at).at("k", one)), observed=2)
    sampler = gp.compile(model, rewrites=False)

    assert "= int(" in sampler.source
    assert sampler.verify().proved


def test_a_sum_over_groups_is_put_in_the_order_of_the_array_at_its_place():
    """It has as many elements in another order: nothing else would tell."""
    with gp.Model(coords={"i": 2, "k": 3, "j": 3, "t": 4}) as model:
        at = gp.Index("at", [2, 0, 1, 1], of="k", dims="t")
        table = gp.Data("table", np.eye(3) + 0.2, dims=("j", "j'"))
        x = gp.MvNormal("x", 0, tau=table, dims=("i", "k", "j"), event="j")
        seen = np.array([[0.3, 0.5, 0.9, 2.3], [0.3, 0.2, 0.4, 0.6]])
        flag = gp.Data("flag", [1, 1, 0, 0], dims="t")
        tau = gp.exp(flag * 2.3 + (1 - flag) * x.at("j", 2).at("k", at))
        seen = np.ma.masked_array(seen, [[0, 1, 0, 0], [0, 0, 1, 0]])
        gp.HalfNormal("y", tau=tau, lower=0.15, dims=("i", "t"), observed=seen)
    sampler = gp.compile(model)

    assert "by_at.sum(" in sampler.source
    assert sampler.verify().proved


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("b", [-1e5, -800.0, -40.0, 0.3, 40.0, 800.0])
def test_logs_of_shares_of_exponentials_keep_their_digits_far_out(b, scale):
    """A count of mean c exp(b): by the generated code and by the interpreter."""
    with gp.Model() as model:
        rate = gp.Flat("b")
        gp.NegativeBinomial("y", mu=scale * gp.exp(rate), alpha=1.0)
        gp.Normal("z", rate, sigma=1, observed=0.0)
    sampler = gp.compile(model, rewrites={"unseen": False})
    state = {"b": np.array(b), "y": np.array(3.0)}
    (eta,) = sampler.program.given_rest["y"](state, sampler.constants)
    with mpmath.workdps(400):
        failure = -mpmath.log1p(mpmath.exp(-b) / scale)
        success = -mpmath.log1p(scale * mpmath.exp(b))
    (y,) = (s for s in sampler.graph.statements if s.name == "y")

    assert eta == pytest.approx(float(failure), rel=1e-13)
    found = float(log_density(y, {**sampler.data, **state}, sampler.graph.sizes))
    assert found == pytest.approx(float(3 * failure + success), rel=1e-13)


def test_exponentials_of_which_each_alone_overflows_are_one():
    """Of a location and a value, both 7,400 scales from 0, where a mask weighs them."""
    seen = np.ma.masked_array([[1000.0, 1001.0, 0.0]] * 2, [[False, False, True]] * 2)
    with gp.Model(coords={"i": 2, "t": 3}) as model:
        x = gp.Laplace("x", 30, rate=1, dims="i")
        gp.Gumbel("y", x**2, scale=gp.exp(x - 30), dims=("i", "t"), observed=seen)
    sampler = gp.compile(model)
    state = {"x": np.full(2, 28.0), "y": np.full((2, 3), 1000.0)}
    given_rest = sampler.program.given_rest["x"](state, sampler.constants)

    assert np.isfinite(given_rest(np.array([31.6, 28.0]))).all()
    assert np.isfinite(given_rest(state["x"])).all()


def test_logs_of_sums_of_weighted_exponentials_are_numbers_far_out():
    """The denominators of a multinomial logit with offsets."""
    with gp.Model(coords={"k": 3}) as model:
        size = gp.Data("size", [1.0, 2.0, 3.0], dims="k")
        z = gp.Data("z", [1.0, 0.0, -1.0], dims="k")
        b = gp.Normal("b", 0, sigma=1e3)
        weights = size * gp.exp((z + 2) * b)
        gp.Categorical("y", weights / gp.sum(weights, "k"), event="k", observed=1)
    sampler = gp.compile(model, blocks={"b": "elements"})
    log_density = sampler.program.given_rest["b"]({}, sampler.constants)

    for far in (-2000.0, 2000.0):
        found = log_density(np.array(far)) - log_density(np.array(0.0)) + far**2 / 2e6
        least = far * np.array([3, 2, 1])
        total = special.logsumexp(least, b=[1, 2, 3]) - np.log(6)
        assert found == pytest.approx(2 * far - total, rel=1e-12)


def test_a_sum_by_group_of_what_depends_on_the_groups_is_none():
    """Positions of a sum at which an element is read again: ``at[j'] = at[j]`` where ``j' = j``."""
    with gp.Model(coords={"i": 2, "j": 4}) as model:
        y = gp.DiscreteUniform("y", lower=0, upper=2, dims=("i", "j"))
        at = gp.Index("at", [1, 0, 0, 1], of="i", dims="j")
        weights = gp.exp(y.at("i", at))
        gp.Categorical("z", weights / gp.sum(weights, "j"), event="j", observed=3)

    assert gp.compile(model, blocks=False).verify().proved


@pytest.mark.parametrize("family", [gp.Frechet, gp.Weibull])
def test_powers_of_a_scale_and_of_values_are_one(family):
    """Of a shape of 600: 17**600 is no number, (17 / 16)**600 is."""
    with gp.Model(coords={"i": 2}) as model:
        shape, scale = gp.Flat("log_shape"), gp.Uniform("scale", 1, 100)
        family("y", shape=gp.exp(shape), scale=scale, dims="i", observed=[16.5, 17.5])
    sampler = gp.compile(model)
    state = {"log_shape": np.array(np.log(600.0)), "scale": np.array(17.0)}

    given = sampler.program.given_rest["log_shape"](state, sampler.constants)

    assert np.isfinite(given(state["log_shape"]))


@pytest.mark.parametrize("shift", [0.0, 1e-12])
def test_whole_numbers_of_a_sum_take_no_digits(shift):
    """All of n trials are successes: of ``n - x + beta`` only beta is left, however small."""
    with gp.Model() as model:
        n, d = gp.Data("n", 3), gp.Data("d", shift)
        u = gp.Normal("u", -30, sigma=1)
        gp.BetaBinomial("x", n=n, alpha=2.3, beta=gp.exp(u) + d)
    sampler = gp.compile(model, rewrites=False)
    state = {"u": np.array(-30.0), "x": np.array(3)}
    given = sampler.program.given_rest["u"](state, sampler.constants)
    (x,) = (s for s in sampler.graph.statements if s.name == "x")

    def log_joint(u):
        values = {**sampler.data, **state, "u": np.array(u)}
        beta = np.exp(u) + shift
        exact = float(special.betaln(2.3 + 3, beta) - special.betaln(2.3, beta))
        found = float(log_density(x, values, sampler.graph.sizes))
        assert found == pytest.approx(exact, rel=1e-12, abs=1e-14)
        return exact - (u + 30) ** 2 / 2

    for far in (-28.0, -40.0, -60.0):
        found = float(given(np.array(far))) - float(given(np.array(-30.0)))
        assert found == pytest.approx(log_joint(far) - log_joint(-30.0), rel=1e-12)


def test_shares_of_exponentials_are_taken_by_their_logs():
    """Also where the exponentials overflow: the largest has a share of one there."""
    with gp.Model(coords={"k": 3}) as m:
        x = gp.StudentT("x", nu=1, mu=0, sigma=1)
        slope = gp.Data("slope", [0.3, 1.0, -0.7], dims="k")
        weight = gp.Data("weight", [0.2, 0.3, 0.5], dims="k")
        each = gp.exp(x * slope)
        gp.Potential("mixed", gp.log(gp.sum(weight * each / gp.sum(each, "k"), "k")))
    sampler = gp.compile(m, rewrites=False)
    log_density = sampler.program.given_rest["x"]({}, sampler.constants)
    at = {v: float(log_density(np.float64(v))) + np.log1p(v**2) for v in (0.0, -2e3, 1e3, 1e6)}

    assert at[1e3] - at[0.0] == pytest.approx(np.log(0.3) - np.log(1 / 3), abs=1e-9)
    assert at[1e6] == pytest.approx(at[1e3], abs=1e-9)
    assert at[-2e3] - at[0.0] == pytest.approx(np.log(0.5) - np.log(1 / 3), abs=1e-9)


def test_entries_of_the_inverses_of_several_matrices():
    """Scales that data choose: the entries are read row by row, of the matrix of each."""
    with gp.Model(coords={"k": 2, "t": 3}) as built:
        chosen = gp.Data("chosen", [1, 0, 1], dims="t")
        scale = chosen * 1.7 + (1 - chosen) * 3.5
        gp.HuangWand("s", nu=2.0, scale=scale, dims=("k", "t", "t'"), event=("t", "t'"))
    sampler = gp.compile(built)

    assert {s.kind for s in sampler.schedule.steps} == {"exact"}
    assert sampler.verify().proved


def test_the_entry_of_each_inverse_at_its_own_place():
    """The row of the entry is the position of the matrix in its batch."""
    text = """model {
      for (t in 1:2) {
        S[t,1:2,1:2] ~ dwish(R[1:2,1:2], 3)
        P[t,1:2,1:2] <- inverse(S[t,1:2,1:2])
        y[t] ~ dnorm(0, P[t,t,t])
        w[t] ~ dnorm(P[t,t,1], 1)
      }
    }"""
    data = {"R": [[1.0, 0.2], [0.2, 2.0]], "y": [0.4, -1.0], "w": [0.1, 0.3]}

    assert gp.compile(gp.read_bugs(text, data)).verify().proved


@pytest.mark.parametrize(("size", "is_long"), [(2, False), (40, True)])
def test_an_order_of_products_is_looked_for_where_there_are_many(size, is_long):
    with gp.Model(coords={"i": size, "j": size, "k": size}) as built:
        x = gp.Gamma("x", shape=2, rate=1, dims=("i", "j"))
        a = gp.Data("a", np.ones((size, size)), dims=("j", "k"))
        b = gp.Data("b", np.ones((size, size)), dims=("k", "i"))
        mean = gp.sum(gp.sum(a * b * x, "j"), "i")
        gp.Normal("y", gp.exp(mean), sigma=1, dims="k", observed=np.ones(size))
    sampler = gp.compile(built)

    assert "einsum" in sampler.source
    assert ("optimize=True" in sampler.source) == is_long
    assert is_long or sampler.verify().proved


@pytest.mark.parametrize("p", [lambda x: 1 - gp.Phi(x), lambda x: 1 - gp.expit(100 * x)])
def test_what_a_probability_lacks_keeps_its_digits_in_the_tail(p):
    with gp.Model(coords={"i": 2}) as m:
        x = gp.StudentT("x", nu=2, mu=0, tau=1, dims="i")
        gp.Bernoulli("y", p(x.sum("i")))
    sampler = gp.compile(m)

    (eta,) = sampler.program.given_rest["y"]({"x": np.array([-60.0, -40.0])}, sampler.constants)

    assert 1000 < eta < np.inf
