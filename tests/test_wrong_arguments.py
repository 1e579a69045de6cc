"""Arguments of the wrong kind, at every public function: an error of ours, or it is taken."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import gibbsppl as gp
from gibbsppl.arguments import shown
from gibbsppl.families import FAMILIES
from gibbsppl.language.distributions import spellings

# (Neither text that is a name, nor numbers: those fit somewhere.)
WRONG = {
    "None": None,
    "text": "no such name!",
    "bytes": b"x",
    "complex": 1j,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "an empty list": [],
    "a dict": {"x": 1},
    "an object": object(),
    "a function": lambda *_: 1,
    "ragged": [[1.0], [2.0, 3.0]],
    "ragged after a number": [0, [1]],
    "ragged arrays": [np.zeros(2), np.zeros(3)],
    "nested too deep": [[[[1.0]]]],
    "texts": np.array(["a", "b"]),
    "complex numbers": np.array([1j, 2.0]),
    "dates": np.array(["2024-01-01"], "datetime64[D]"),
    "structured": np.zeros(2, [("a", int)]),
    "objects": np.array([object(), 1], object),
    "a class": int,
    "an error": ValueError("x"),
    "a slice": slice(1, 2),
    "an Ellipsis": ...,
    "a set": {1.0, 2.0},
    "a generator": (i for i in "ab"),
    "a frame of text": pd.DataFrame({"a": ["x"]}),
    "a data set": xr.Dataset({"a": ("i", [1.0])}),
    "a large integer": 10**400,
    "negative": -7,
    "true": True,
    "a half": 0.5,
    "pandas' NA": pd.NA,
    "numbers of pandas": pd.Series([1.0, 2.0, 3.0, 4.0, 5.0]),
}


@pytest.fixture(scope="module")
def sampler():
    with gp.Model(coords={"i": 2}) as model:
        x = gp.Data("x", [1.0, 2.0], dims="i")
        mu = gp.Normal("mu", 0, sigma=1)
        theta = gp.Normal("theta", mu, sigma=1, dims="i")
        gp.Normal("y", theta * x, sigma=1, dims="i", observed=[1.0, 2.0])
    return gp.compile(model)


@pytest.fixture(scope="module")
def draws(sampler):
    return sampler.sample(15, warmup=1, chains=2, seed=1, progress=False)


def in_model():
    """What is at hand in a model: data, an index and a variable along one dim, another alone."""
    x = gp.Data("x", [1.0, 2.0], dims="i")
    group = gp.Index("group", [0, 1], of="i", dims="j", size=2)
    return x, group, gp.Normal("u", 0, sigma=1, dims="i"), gp.Normal("v", 0, sigma=1)


def declared(function, **fitting):
    """Calls in a model, one for each argument that is made wrong."""
    return [(function, fitting, name) for name in fitting]


LANGUAGE = [
    *declared(gp.Model, coords={"i": 2}, name="m"),
    *declared(gp.Model, coords=lambda w: {"i": w}),
    *declared(gp.Model, coords=lambda w: {w if w.__hash__ else "i": 2}),
    *declared(gp.Data, name="d", values=[1.0, 2.0], dims="i"),
    *declared(gp.Index, name="k", codes=[0, 1], of="i", dims="j", size=2),
    *declared(gp.Array, name="a", dims="i", event="i", observed=[1.0, 2.0], missing=9),
    *declared(
        gp.Censored, name="c", distribution=gp.Normal(0, sigma=1), event=[1, 0], lower=-3.0,
        upper=3.0, dims="i", observed=[1.0, 2.0],
    ),
    *declared(gp.Neighbours, name="n", lists=[[1], [0]], of="i"),
    *declared(gp.Neighbours, name="n", pairs=[[0, 1]], of="i"),
    *declared(gp.Neighbours, name="n", matrix=np.eye(2)[::-1], of="i"),
    *declared(gp.Deterministic, name="d", value=1.0, dims=None),
    *declared(gp.Potential, name="p", log_density=1.0, dims=None),
    *declared(gp.Constraint, name="p", holds=1.0, dims=None),
    *(
        (getattr(gp, n), dict.fromkeys(arguments.split(), 0.5), a)
        for n, arguments in {
            "exp": "x", "log": "x", "sqrt": "x", "abs": "x", "logit": "p", "expit": "x",
            "Phi": "x", "loggamma": "x", "where": "condition a b", "minimum": "a b",
            "maximum": "a b", "step": "x", "equals": "a b",
        }.items()
        for a in arguments.split()
    ),
]  # fmt: skip


def called(function, fitting, name, wrong):
    fit = fitting[name]
    given = {**fitting, name: fit(wrong) if callable(fit) and function is gp.Model else wrong}
    return function(**given)


@pytest.mark.parametrize("labels", [2, ["a", "b"], [7, 9]], ids=str)
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_arguments_of_the_language(wrong, labels):
    bare = []
    for function, fitting, name in LANGUAGE:
        with gp.Model(coords={"i": labels}):
            try:
                called(function, fitting, name, wrong)
            except gp.GibbspplError:
                pass
            except Exception as error:  # noqa: BLE001
                bare.append((function.__name__, name, repr(error)))
    assert bare == []


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_arguments_of_distributions(wrong):
    bare = []
    for family in FAMILIES.values():
        for spelling in spellings(family)[-1:]:
            names = (*spelling, "dims", "event", "observed", "missing", "of", "lower", "upper")
            for name in (*names, 0):
                given = dict.fromkeys(spelling, 0.5) | ({name: wrong} if name else {})
                with gp.Model(coords={"i": 2}):
                    first = wrong if name == 0 else "z"
                    try:
                        getattr(gp, family.name)(first, **given)
                    except gp.GibbspplError:
                        pass
                    except Exception as error:  # noqa: BLE001
                        bare.append((family.name, name, repr(error)))
    assert bare == []


OF_TENSORS = {
    "sum": lambda x, _g, w: x.sum(w),
    "gp.sum": lambda x, _g, w: gp.sum(x, w),
    "gp.sum of": lambda _x, _g, w: gp.sum(w, "i"),
    "gp.cumsum of": lambda _x, _g, w: gp.cumsum(w, "i"),
    "prod": lambda x, _g, w: x.prod(w),
    "cumsum": lambda x, _g, w: x.cumsum(w),
    "cumprod": lambda x, _g, w: x.cumprod(w),
    "stick_breaking": lambda x, _g, w: x.stick_breaking(w),
    "into": lambda x, _g, w: x.stick_breaking("i", w),
    "stick of": lambda _x, _g, w: gp.stick_breaking(w, "i"),
    "at": lambda x, _g, w: x.at("i", w),
    "at dim": lambda x, _g, w: x.at(w, 0),
    "lag": lambda x, _g, w: x.lag("i", w),
    "lag dim": lambda x, _g, w: x.lag(w, 1),
    "centred": lambda x, _g, w: gp.centred(x, w),
    "centred of": lambda _x, _g, w: gp.centred(w, "i"),
    "centred by": lambda x, _g, w: gp.centred(x, "i", w),
    "index": lambda x, _g, w: x[w],
    "filled": lambda x, _g, w: x.__setitem__(0, w),
    "added": lambda x, _g, w: x + w,
    "radded": lambda x, _g, w: w + x,
    "power": lambda x, _g, w: x**w,
    "rpower": lambda x, _g, w: w**x,
    "quotient": lambda x, _g, w: x / w,
    "compared": lambda x, _g, w: x < w,
    "rcompared": lambda x, _g, w: w >= x,
    "equal": lambda x, _g, w: x == w,
    "product of vectors": lambda x, _g, w: x @ w,
    "rproduct of vectors": lambda x, _g, w: w @ x,
    "region": lambda _x, _g, w: gp.Array("a", dims="i").__setitem__(w, gp.Normal(0, sigma=1)),
    **{
        f"region {part}": lambda _x, _g, w, of=of: gp.Array("a", dims="i").__setitem__(
            of(w), gp.Normal(0, sigma=1)
        )
        for part, of in {
            "from": lambda w: slice(w, None),
            "to": lambda w: slice(None, w),
            "by": lambda w: slice(None, None, w),
        }.items()
    },
    "constant": lambda _x, _g, w: gp.Array("a", dims="i").__setitem__(0, w),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_arguments_of_tensors(wrong):
    bare = []
    for name, use in OF_TENSORS.items():
        with gp.Model(coords={"i": 2}):
            x, group, *_ = in_model()
            try:
                use(x, group, wrong)
            except gp.GibbspplError:
                pass
            except Exception as error:  # noqa: BLE001
                bare.append((name, repr(error)))
    assert bare == []


def returning(wrong, model):
    """A run of a kernel that returns what is no value."""
    made = gp.compile(model, kernels={"mu": lambda *_: wrong})
    made.sample(1, warmup=0, chains=1, seed=1, progress=False)


def not_called(wrong):
    """What is wrong, as no function: one may raise what it likes."""
    return 1 if callable(wrong) else wrong


def asking(at, model):
    """A run of a kernel that asks for the log density at something."""

    def kernel(_, value, log_density):
        return value + 0 * log_density(at)

    made = gp.compile(model, kernels={"mu": kernel})
    made.sample(1, warmup=0, chains=1, seed=1, progress=False)


def used(draws, sampler, path):
    """What is done with draws that reads how they were made."""
    print(draws, draws.summary())
    draws.thinned(2)
    draws.save_coda(path / "x")
    sampler.predict(draws, {"x": [1.0, 2.0]})


def saved(fields, path):
    """Draws with some of their fields given, saved."""
    draws = gp.Draws(**{"values": {"x": np.zeros((1, 4))}, **fields})
    print(draws, draws.summary())
    draws.save(path / "x.nc")


def of_runs(sampler, draws, path):
    """Calls of what is compiled and drawn, one wrong argument each."""
    model_settings = (
        "blocks", "rewrites", "collapse", "approximate", "interweave", "exact", "order", "scan",
        "kernels",
    )  # fmt: skip
    with gp.Model(coords={"i": 2}) as model:
        gp.Normal("mu", 0, sigma=1)
    yield "compile", gp.compile
    for name in model_settings:
        yield name, lambda w, n=name: gp.compile(model, **{n: w})
    yield "kernels by name", lambda w: gp.compile(model, kernels={"mu": w})
    quick = {"draws": 2, "warmup": 1, "chains": 1, "seed": 1, "progress": False}
    for name in (*quick, "thin", "init", "keep", "backend", "limit_bytes"):
        yield name, lambda w, n=name: sampler.sample(**{**quick, n: w})
    yield "init of one", lambda w: sampler.sample(**quick, init={"theta": w})
    yield "verify", sampler.verify
    yield "explain", sampler.explain
    yield "compare", sampler.compare
    yield "compare of", lambda w: sampler.compare({"a": {}}, of=w, draws=2, warmup=1)
    yield "compare with", lambda w: sampler.compare({"a": {"order": w}}, draws=2, warmup=1)
    yield "check_kernel", lambda w: sampler.check_kernel(w, replicates=2)
    yield "predict", lambda w: sampler.predict(w, {"x": [1.0, 2.0]})
    yield "predict names", lambda w: sampler.predict(draws, {w if w.__hash__ else 1: 2})
    checked = partial(sampler.check_kernel, "mu", replicates=2)
    yield "functions", lambda w: checked(functions={"f": not_called(w)})
    yield "log density", lambda w: asking(w, model)
    yield "kernel", lambda w: returning(w, model)
    yield "predict new", lambda w: sampler.predict(draws, w)
    yield "predict values", lambda w: sampler.predict(draws, {"x": w})
    yield "predict name", lambda w: sampler.predict(draws, {"x": [1.0, 2.0], "i": 0}, name=w)
    yield "deviance", sampler.deviance
    yield "dic", sampler.dic
    yield "conditional_mean", sampler.conditional_mean
    yield "conditional_mean of", lambda w: sampler.conditional_mean(draws, w)
    short = {"draws": 2, "batches": 1, "warmup": 1, "chains": 1, "seed": 1}
    yield "conditional_averages", lambda w: sampler.conditional_averages(w, **short)
    averages = partial(sampler.conditional_averages, "mu")
    for name in (*short, "thin", "init", "backend"):
        yield f"averages {name}", lambda w, n=name: averages(**{**short, n: w})
    yield from of_results(sampler, draws)
    yield "summary", draws.summary
    yield "max_rows", lambda w: draws.summary(max_rows=w)
    yield "only", draws.only
    yield "thinned", draws.thinned
    yield "stacked", draws.stacked
    yield "item", lambda w: draws[w]
    yield "row", lambda w: draws.summary()[w]
    yield "values", gp.Draws
    yield "dims", lambda w: gp.Draws({"x": np.zeros((1, 2, 3))}, w)
    for name in ("warmup", "thin", "interrupted", "seed"):
        yield name, lambda w, n=name: used(replace(draws, attributes={n: w}), sampler, path)
    yield "coords", lambda w: gp.Draws({"x": np.zeros((1, 2, 3))}, {"x": ("i",)}, {"i": w})
    yield "name in draws", lambda w: w in draws
    for name in ("values", "dims", "coords", "sample_stats", "observed_data", "constant_data"):
        yield f"{name} of", lambda w, n=name: saved({n: {"y": w}}, path)
        yield f"names of {name}", lambda w, n=name: saved({n: {w if w.__hash__ else 1: 1}}, path)
    yield "save", lambda w: draws.save(path / w if isinstance(w, str) else w)
    yield "save_coda", lambda w: draws.save_coda(path / w if isinstance(w, str) else w)
    yield "load_draws", gp.load_draws
    yield "simulate", lambda w: gp.simulate(w, seed=1)
    yield "simulate seed", lambda w: gp.simulate(model, seed=w)
    yield "simulate draws", lambda w: gp.simulate(model, seed=1, draws=w)
    yield "read_bugs", gp.read_bugs
    yield "read_bugs data", lambda w: gp.read_bugs("model { y ~ dnorm(0, 1) }", w)
    yield "read_bugs values", lambda w: gp.read_bugs("model { y ~ dnorm(0, 1) }", {"y": w})
    yield "monitor", lambda w: gp.read_bugs("model { y ~ dnorm(0, 1) }", {}, monitor=w)
    yield "read_inits", lambda w: gp.read_inits(w, model)
    yield "inits of", lambda w: gp.read_inits("mu <- 1", w)
    yield "write_bugs", gp.write_bugs
    for kernel in (gp.RandomWalk, gp.OverRelaxed, gp.RandomScan):
        yield kernel.__name__, kernel
    yield "target_accept", lambda w: gp.RandomWalk(target_accept=w)
    yield "weights", lambda w: gp.compile(model, scan=gp.RandomScan({"mu": w}))
    yield "weights of", lambda w: gp.RandomScan({w if w.__hash__ else "x": 1.0})


def of_results(sampler, draws):
    """Calls of what is done with draws, one wrong argument each."""
    known = sampler.log_likelihood(draws.with_groups())
    for name in ("names", "new", "seed", "censored", "limit_bytes"):
        yield f"simulate {name}", lambda w, n=name: sampler.simulate(draws, **{n: w})
    yield "simulate new", lambda w: sampler.simulate(draws, new={"x": w})
    yield "simulate draws", sampler.simulate
    own = {"draws": draws}
    for name in ("draws", "names", "limit_bytes"):
        yield f"log_likelihood {name}", lambda w, n=name: sampler.log_likelihood(**{**own, n: w})
    for name in ("draws", "log_likelihood", "posterior_predictive", "prior", "seed"):
        yield f"groups {name}", lambda w, n=name: sampler.with_groups(**{**own, n: w})
    yield "relabelled", lambda w: sampler.relabelled(w, "z")
    yield "relabelled by", lambda w: sampler.relabelled(draws, w)
    yield "quantiles", draws.quantiles
    yield "quantiles at", lambda w: draws.quantiles("mu", w)
    yield "interval", lambda w: draws.interval("mu", w)
    yield "correlations", draws.correlations
    yield "correlations most", lambda w: draws.correlations(most=w)
    yield "probs", lambda w: draws.summary(probs=w)
    yield "loo", known.loo
    yield "waic", known.waic
    yield "groups by hand", lambda w: draws.with_groups(prior=w)
    yield "groups", lambda w: gp.Draws({"x": np.zeros((1, 4))}, groups={"prior": w})
    yield "compare_models", gp.compare_models
    yield "compare_models of", lambda w: gp.compare_models({"a": w})
    yield "compare_models by", lambda w: gp.compare_models({"a": known}, method=w)


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_arguments_of_what_is_compiled(wrong, sampler, draws, tmp_path):
    bare = []
    for name, call in of_runs(sampler, draws, tmp_path):
        try:
            call(wrong)
        except gp.GibbspplError:
            pass
        except Exception as error:  # noqa: BLE001
            bare.append((name, repr(error)))
    assert bare == []


@pytest.fixture(scope="module")
def labelled():
    """A model, its sampler and draws; an index points along a dim that has labels."""
    with gp.Model(coords={"town": ["Lund", "Oslo"], "year": [7, 9]}) as model:
        at, of = gp.Index("at", [1, 1, 0], of="town", dims="i"), "i"
        when, x = gp.Index("when", [0, 1, 1], of="year", dims=of), gp.Data("x", [1, 2, 3], dims=of)
        theta = gp.Normal("theta", 0, sigma=1, dims="town")
        effect = gp.Normal("effect", 0, sigma=1, dims="year")
        gp.Normal("y", theta[at] + effect[when] * x, sigma=1, dims=of, observed=[1.0, 2.0, 4.0])
    sampler = gp.compile(model)
    return model, sampler, sampler.sample(5, warmup=1, chains=1, seed=1, progress=False)


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_values_where_dims_have_labels(wrong, labelled):
    model, sampler, draws = labelled
    known = {"at": [0, 1], "when": [0, 1], "x": [1.0, 2.0]}
    quick = {"draws": 2, "warmup": 1, "chains": 1, "seed": 1, "progress": False}
    calls = {
        **{f"{n} of a model": lambda n=n: model.with_data({n: wrong}) for n in (*known, "y")},
        "missing": lambda: model.with_data({"y": [1.0, 2.0, 4.0]}, missing={"y": wrong}),
        "coords": lambda: model.with_data({}, coords={"town": wrong}),
        **{f"{n} anew": lambda n=n: sampler.predict(draws, {**known, n: wrong}) for n in known},
        **{n: lambda n=n: sampler.sample(**quick, init={n: wrong}) for n in ("theta", "effect")},
        "simulated": lambda: sampler.simulate(draws, new={**known, "at": wrong}),
    }
    bare = []
    for name, call in calls.items():
        try:
            call()
        except gp.GibbspplError:
            pass
        except Exception as error:  # noqa: BLE001
            bare.append((name, repr(error)))
    assert bare == []


def test_codes_that_are_no_array_are_named():
    with gp.Model(coords={"j": ["a", "b"]}), pytest.raises(gp.ModelError) as refused:
        gp.Index("g", [0, [1], 1], of="j", dims="i")
    assert str(refused.value).startswith("g: found [0, [1], 1], which is no array")
    assert "expected real numbers in a rectangular array" in str(refused.value)


def test_calls_that_do_not_fit_ask_what_was_meant(sampler, draws):
    for call, told in {
        lambda: sampler.sample(sed=1): "Did you mean 'seed'",
        lambda: sampler.sample(draw=5): "Did you mean 'draws'",
        lambda: sampler.sample(1, 2, 3): "positional",
        gp.compile: "missing 1 required",
        lambda: gp.compile(gp.Model(), block=False): "Did you mean 'blocks'",
        lambda: gp.Model("x"): r"gp.Model\(name='x'\)",
        lambda: gp.Model(coord={}): "Did you mean 'coords'",
        lambda: gp.Data("x"): "missing 1 required",
        gp.exp: "missing 1 required",
        lambda: draws.summary(name=["mu"]): "Did you mean 'names'",
        draws.save: "missing 1 required",
        lambda: gp.RandomWalk(scal=1.0): "Did you mean 'scale'",
        gp.Normal: "parameters none",
    }.items():
        with pytest.raises(gp.GibbspplError, match=told):
            call()


def test_errors_of_python_inside_of_a_function_stay():
    """Only the call itself is told anew."""
    with gp.Model() as model:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, observed=1.0)

    def kernel(rng, value, log_density):
        return value + None

    with pytest.raises(TypeError, match="unsupported operand"):
        gp.compile(model, kernels={"mu": kernel}).sample(2, warmup=0, chains=1, progress=False)


@pytest.mark.parametrize("total", [0, -1, 0.5])
def test_a_multinomial_of_no_total(total):
    def declare():
        p = gp.Dirichlet("p", 1, dims="k")
        return gp.Multinomial("y", total, p, dims="k", observed=[0, 0])

    with gp.Model(coords={"k": 2}) as model:
        if total:
            with pytest.raises(gp.ModelError, match="y: n"):
                declare()
            return
        declare()
    assert gp.compile(model).verify().proved


@pytest.mark.parametrize(
    "dims",
    [np.ma.masked, np.array("i"), ("i", np.ma.masked_invalid([1.0, np.nan])), ("i", np.eye(2))],
    ids=repr,
)
def test_dims_that_are_arrays_are_refused(dims):
    with gp.Model(coords={"i": 2}), pytest.raises(gp.ModelError, match=r"^a: .*dims"):
        gp.Normal("a", 0, sigma=1, dims=dims)


def test_text_that_cannot_be_encoded_is_refused():
    with pytest.raises(gp.ModelError, match=r"the label .* with half of a character"):
        gp.Model(coords={"i": ["\ud800", "b"]})
    with pytest.raises(gp.ModelError, match="or a null"):
        gp.Model(coords={"i": ["\0a", "b"]})
    for label in ("a\0", b"a\0"):  # (arrays of texts lose it)
        with pytest.raises(gp.ModelError, match="or a null"):
            gp.Model(coords={"i": [label, "b"]})
    with pytest.raises(gp.ModelError, match="expected a text that can be printed"):
        gp.Model(name="\ud800")


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
@pytest.mark.parametrize("method", ["save", "save_coda"])
def test_names_that_no_file_has_are_refused(draws, method, path):
    with pytest.raises(gp.RunError, match="expected the path of a file"):
        getattr(draws, method)(path)
    with pytest.raises(gp.RunError, match="expected the path of a file"):
        gp.load_draws(path)


@pytest.mark.parametrize(
    "settings",
    [{"replicates": np.array([0, 1])}, {"replicates": 0}, {"sweeps": 1.5}, {"level": 2.0}],
    ids=str,
)
def test_settings_of_the_test_of_a_kernel_are_checked(sampler, settings):
    (name,) = settings

    with pytest.raises(gp.RunError, match=f"^check_kernel: found {name}="):
        sampler.check_kernel("mu", **settings)


def test_a_list_of_what_has_too_many_digits_is_told_by_its_kind():
    assert shown([10**5000]) == "list"
    assert shown(10**5000) == "a number of 16610 bits"
