"""Draws: labelled access, the printed summary, xarray, netCDF and ArviZ."""

import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.output.draws import Draws
from gibbsppl.sampling.resuming import load_draws

SHAPE = (4, 200)


def example():
    rng = np.random.default_rng(1)
    return Draws(
        values={
            "mu": rng.normal(242.5, 2.7, size=SHAPE),
            "theta": rng.normal(0, 1, size=(*SHAPE, 3)),
            "cov": rng.normal(size=(*SHAPE, 2, 2)),
            "z": rng.integers(0, 3, size=(*SHAPE, 40)),
            "on": rng.random(SHAPE) < 0.5,
        },
        dims={
            "theta": ("school",),
            "cov": ("factor", "factor'"),
            "z": ("obs",),
        },
        coords={
            "school": np.array(["Choate", "Élan", "Deerfield"]),
            "factor": np.array([0.5, 1.5]),
            "obs": np.arange(100, 140),
        },
        observed_data={"y": (("school",), np.array([28.0, 8.0, -3.0]))},
        constant_data={"school": (("school",), np.array([15, 10, 16]))},
        sample_stats={"log_density": rng.normal(size=SHAPE)},
        attributes={"seed": 2**100, "warmup": 500, "thin": 2, "backend": "numpy", "note": None},
    )


def test_draws_describe_themselves():
    assert str(example()).splitlines() == [
        "4 chains, 200 draws each",
        "mu",
        "theta (school: 3)",
        "cov (factor: 2, factor': 2)",
        "z (obs: 40)",
        "on",
    ]


def test_access_by_name_and_a_hint_for_a_wrong_one():
    draws = example()

    assert draws["theta"].shape == (4, 200, 3)
    assert list(draws) == ["mu", "theta", "cov", "z", "on"]
    assert "mu" in draws
    with pytest.raises(RunError, match=r"no variable 'tehta'.*Did you mean 'theta'"):
        draws["tehta"]


def test_stacking_joins_the_chains_in_order():
    draws = example()

    np.testing.assert_array_equal(draws.stacked("theta")[200], draws["theta"][1, 0])


def test_thinning_keeps_the_last_of_each_run_and_records_it():
    draws = example()
    thinned = draws.thinned(3)

    np.testing.assert_array_equal(thinned["mu"], draws["mu"][:, 2::3])
    assert thinned.sample_stats["log_density"].shape == thinned["mu"].shape == (4, 66)
    assert thinned.attributes["thin"] == 6
    with pytest.raises(RunError, match=r"every: found 0, expected 1 to 200"):
        draws.thinned(0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"values": {}}, "found no variable"),
        (
            {"values": {"a": np.zeros((2, 5)), "b": np.zeros((2, 4))}},
            r"b: found \(chain, draw\) \(2, 4\), not \(2, 5\)",
        ),
        ({"values": {"a": np.zeros((2, 5, 3))}}, r"a: found dims \(\) for shape \(3,\)"),
        (
            {"values": {"a": np.zeros((2, 5, 3, 3))}, "dims": {"a": ("k", "k")}},
            "a: found dims .* all different",
        ),
        (
            {"values": {"a": np.zeros((2, 5, 3))}, "dims": {"a": ("draw",)}},
            "a: found dims .* none of chain, draw",
        ),
        (
            {
                "values": {"a": np.zeros((2, 5, 3))},
                "dims": {"a": ("k",)},
                "coords": {"k": np.arange(4)},
            },
            "a: found size 3 along 'k', expected 4",
        ),
        (
            {"values": {"a": np.zeros((2, 5))}, "observed_data": {"y": (("k",), np.zeros((2, 2)))}},
            "y: found dims",
        ),
    ],
)
def test_fields_that_do_not_fit_are_refused_by_name(fields, message):
    with pytest.raises(RunError, match=message):
        Draws(**fields)


def test_rows_carry_coordinates_as_labels():
    summary = example().summary(["mu", "theta", "cov"])

    assert list(summary.rows) == [
        "mu",
        *("theta[Choate]", "theta[Élan]", "theta[Deerfield]"),
        *("cov[0.5, 0]", "cov[0.5, 1]", "cov[1.5, 0]", "cov[1.5, 1]"),
    ]
    assert summary["theta[Élan]"]["mean"] == pytest.approx(example()["theta"][..., 1].mean())
    assert summary.to_dict()["mu"].keys() == {
        *("mean", "sd", "2.5%", "50%", "97.5%"),
        *("mcse_mean", "ess_bulk", "ess_tail", "r_hat"),
    }


def test_large_variables_show_their_first_and_last_elements_and_say_so():
    summary = example().summary("z", max_rows=5)

    assert list(summary.rows) == ["z[100]", "z[101]", "z[102]", "z[138]", "z[139]"]
    assert [line.split()[0] for line in str(summary).splitlines()[3:9]] == [
        "z[100]",
        "z[101]",
        "z[102]",
        "z[...]",
        "z[138]",
        "z[139]",
    ]
    assert "z[...] 35 more" in str(summary)
    assert 'see summary("z", max_rows=None)' in str(summary)
    assert len(example().summary("z", max_rows=None).rows) == 40
    assert len(example().summary("z", max_rows=1).rows) == 1
    with pytest.raises(RunError, match=r"no row 'z\[120\]'.*summary\(max_rows=None\)"):
        summary["z[120]"]
    with pytest.raises(RunError, match="max_rows: found 0"):
        example().summary(max_rows=0)


def one_variable(draws):
    dims = tuple(f"axis_{k}" for k in range(draws.ndim - 2))
    return Draws({"x": draws}, {"x": dims}).summary()


def test_the_table_is_aligned_and_has_digits_that_the_error_can_bear():
    rng = np.random.default_rng(2)
    draws = Draws(
        {
            "mu": 242.5 + 2.7 * rng.normal(size=(4, 1000)),
            "slope": 6.19 + 0.1 * rng.normal(size=(4, 1000)),
            "rate": 1e-9 * rng.gamma(3, size=(4, 1000)),
        }
    )

    assert str(draws.summary()).splitlines() == TABLE


TABLE = """
4 chains, 1000 draws each

            mean         sd       2.5%        50%      97.5%  mcse_mean  ess_bulk  ess_tail  r_hat
mu      242.46       2.71     237.19     242.50     247.81       0.042       4162      3932  1.001
slope     6.1948     0.0993     5.9960     6.1950     6.3884     0.0016      3987      3834  1.000
rate   2.996e-09  1.716e-09  5.918e-10  2.679e-09  7.052e-09    2.7e-11      4008      3418  1.000
""".splitlines()[1:]


def test_chains_that_disagree_are_warned_of():
    apart = np.random.default_rng(3).normal(size=(4, 300, 3))
    apart[0, :, 1] += 5

    text = str(one_variable(apart))
    assert "R-hat is above 1.01 in 1 of 3 rows (worst: x[1]," in text
    assert "ESS is below 400 (100 per chain) in 1 of 3 rows (worst: x[1]," in text


def test_chains_that_disagree_out_of_sight_are_warned_of():
    hidden = np.random.default_rng(3).normal(size=(4, 1000, 100))
    hidden[0, :, 50] += 5

    text = str(one_variable(hidden))
    assert "among those of x R-hat reaches" in text
    assert "R-hat is above" not in text


def test_good_draws_are_not_warned_of():
    text = str(one_variable(np.random.default_rng(3).normal(size=(4, 1000))))

    assert len(text.splitlines()) == 4


def test_constant_infinite_few_and_single_draws_are_shown_without_a_python_warning():
    rng = np.random.default_rng(4)
    assert np.isnan(one_variable(np.ones((4, 100)))["x"]["r_hat"])
    assert len(str(one_variable(np.ones((4, 100)))).splitlines()) == 4, "no note"
    infinite = rng.normal(size=(4, 100, 2))
    infinite[1, 5, 1] = -np.inf
    assert "Draws that are not finite: x[1]: no diagnostics there" in str(one_variable(infinite))
    assert "Fewer than 4 draws" in str(one_variable(rng.normal(size=(2, 3))))
    assert "Fewer than 4 draws" in str(one_variable(rng.normal(size=(1, 1))))
    assert "One chain only" in str(one_variable(rng.normal(size=(1, 1000))))
    assert one_variable(np.zeros((2, 10, 0))).rows == {}
    assert "x[0]" in str(one_variable(rng.random((4, 500, 2)) < 0.5))


def test_a_summary_is_quick_and_needs_none_of_the_slow_imports():
    code = (
        "import sys, numpy as np\n"
        "from gibbsppl.output.draws import Draws\n"
        "str(Draws({'x': np.random.default_rng(0).normal(size=(4, 100))}).summary())\n"
        "print(sorted({'xarray', 'pandas', 'arviz', 'scipy.stats', 'tqdm'} & set(sys.modules)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout == "[]\n"

    rats = Draws({"x": np.random.default_rng(0).normal(size=(4, 1000, 65))}, {"x": ("k",)})

    def seconds():
        started = time.perf_counter()
        rats.summary(max_rows=None)
        return time.perf_counter() - started

    assert min(seconds() for _ in range(3)) < 0.3


def test_the_data_tree_has_the_layout_of_arviz():
    draws = example()
    tree = draws.to_datatree()

    assert list(tree.children) == ["posterior", "sample_stats", "observed_data", "constant_data"]
    posterior = tree["posterior"]
    assert posterior["theta"].dims == ("chain", "draw", "school")
    assert posterior["cov"].dims == ("chain", "draw", "factor", "factor'")
    assert list(posterior["school"].values) == ["Choate", "Élan", "Deerfield"]
    assert list(posterior["factor'"].values) == [0, 1]
    np.testing.assert_array_equal(posterior["theta"].sel(school="Élan"), draws["theta"][..., 1])
    np.testing.assert_array_equal(tree["observed_data"]["y"].sel(school="Choate"), 28.0)
    np.testing.assert_array_equal(tree["constant_data"]["school_"], [15, 10, 16])
    assert tree.attrs["inference_library"] == "gibbsppl"
    assert posterior.attrs["seed"] == str(2**100)
    assert "note" not in posterior.attrs


def test_a_file_gives_back_what_was_saved(tmp_path):
    draws, path = example(), tmp_path / "draws.nc"
    draws.save(path)
    again = load_draws(str(path))

    assert list(again) == list(draws)
    for name in draws:
        np.testing.assert_array_equal(again[name], draws[name])
        assert again[name].dtype == draws[name].dtype
        assert again.dims_of(name) == draws.dims_of(name)
    for dim, labels in draws.coords.items():
        assert list(again.coords[dim]) == list(labels)
    for kind in ("observed_data", "constant_data"):
        for name, (dims, array) in getattr(draws, kind).items():
            assert getattr(again, kind)[name][0] == dims
            np.testing.assert_array_equal(getattr(again, kind)[name][1], array)
    np.testing.assert_array_equal(
        again.sample_stats["log_density"], draws.sample_stats["log_density"]
    )
    assert again.attributes == {"seed": str(2**100), "warmup": 500, "thin": 2, "backend": "numpy"}
    assert str(again.summary("theta")) == str(draws.summary("theta"))
    assert [p.name for p in tmp_path.iterdir()] == ["draws.nc"]


def test_a_save_that_fails_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "draws.nc"
    example().save(path)
    before = path.read_bytes()
    bad = Draws({"x": np.full((1, 4), object(), dtype=object)})

    with pytest.raises((TypeError, ValueError, NotImplementedError)):
        bad.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["draws.nc"]


def test_another_file_is_refused_by_name(tmp_path):
    import xarray as xr

    xr.Dataset({"x": ("k", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(RunError, match=r"other\.nc: found no draws, expected a file that Draws"):
        load_draws(tmp_path / "other.nc")


@pytest.mark.parametrize(("name", "value"), [("thin", "x"), ("warmup", -1), ("interrupted", 1)])
def test_how_draws_were_made_is_checked_where_it_is_read(tmp_path, name, value):
    import h5py

    example().save(tmp_path / "draws.nc")
    with h5py.File(tmp_path / "draws.nc", "a") as file:
        file.attrs[name] = value

    with pytest.raises(RunError, match=rf"attributes\['{name}'\]: found {value!r}, expected"):
        load_draws(tmp_path / "draws.nc")


def test_labels_of_several_types_are_saved_as_text(tmp_path):
    labels = np.array([np.datetime64("2020-01-01"), 2, 10**30], dtype=object)
    draws = Draws({"x": np.zeros((1, 4, 3))}, {"x": ("k",)}, {"k": labels})
    draws.save(tmp_path / "draws.nc")

    assert load_draws(tmp_path / "draws.nc").coords["k"].tolist() == [
        *("2020-01-01", "2", "1" + "0" * 30)
    ]


DAMAGES = {
    "no name": lambda f: f["posterior/mu"].attrs.__delitem__("name"),
    "a name that is none": lambda f: f["posterior/mu"].attrs.__setitem__("name", 3),
    "two of one name": lambda f: f["posterior/mu"].attrs.__setitem__("name", "theta"),
    "no scale of a dim": lambda f: f.copy("constant_data/school_", "posterior/other"),
    "data in place of draws": lambda f: (f.pop("posterior"), f.move("constant_data", "posterior")),
    "draws in place of statistics": lambda f: (
        f.pop("sample_stats"),
        f.copy("posterior", "sample_stats"),
    ),
    "dims without names": lambda f: f["posterior"].create_dataset("x", data=np.zeros((0, 3))),
    "another library": lambda f: f.attrs.__setitem__("inference_library", np.zeros((0, 3))),
    "text": lambda f: f["posterior"].create_dataset("text", data=np.array([b"a", b"b"])),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # of xarray, of files without names of dims
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_of_draws_that_was_changed_is_refused_by_name(tmp_path, damage):
    import h5py

    path = tmp_path / "draws.nc"
    example().save(path)
    with h5py.File(path, "a") as file:
        DAMAGES[damage](file)

    with pytest.raises(RunError, match=r"draws\.nc: .*Draws.save w"):
        load_draws(path)


def test_arviz_reads_the_draws():
    draws = example()
    data = draws.to_arviz()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        import arviz
    table = arviz.summary(data, var_names=["theta"], round_to="none")

    assert list(table.index) == ["theta[Choate]", "theta[Élan]", "theta[Deerfield]"]
    ours = draws.summary("theta")
    for label, row in table.iterrows():
        for column in ("mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean"):
            assert row[column] == pytest.approx(ours[label][column], rel=1e-9)


def test_draws_kept_at_the_last_number_are_told():
    rng = np.random.default_rng(2)
    share = rng.uniform(size=(4, 500, 2))
    share[:, :40, 1] = np.nextafter(1.0, 0.0)
    told = str(Draws({"p": share}, dims={"p": ("i",)}, coords={"i": np.arange(2)}).summary())

    assert "last number before it: p[1] in 8 % of the draws" in told
    assert "p[0] in" not in told
    assert "last number" not in str(example().summary())


def test_beta_draws_that_round_to_one_are_told():
    """A share whose second shape is next to 0 (9 % of the draws are above the last number)."""
    program = "model { x[1] ~ dbeta(1.6, 0.4)  x[2] ~ dbeta(2 * x[1], 2 * (1 - x[1])) }"
    draws = gp.compile(gp.read_bugs(program, data={})).sample(seed=1, draws=500, progress=False)

    assert "last number before it: x[2] in" in str(draws.summary())


LABELS = '{"z": "kind", "w": "kind"}'


def with_labels(**more):
    """An element that is nearly always blue, one of two labels, and a number by chance."""
    rng = np.random.default_rng(1)
    z = np.stack([np.where(rng.random(SHAPE) < p, 2, k) for p, k in ((0.9, 0), (0.4, 1))], axis=-1)
    return Draws(
        values={"z": z, "w": rng.integers(0, 9, SHAPE), "n": rng.poisson(3, SHAPE)},
        dims={"z": ("i",)},
        coords={"kind": np.array(["red", "green", "blue", *"abcdef"])},
        attributes={"labels": LABELS},
        **more,
    )


def test_labels_are_told_by_the_shares_of_draws_most_frequent_first():
    draws = with_labels()
    summary = draws.summary()

    assert list(summary.rows)[:4] == ["z[0] = blue", "z[0] = red", "z[1] = green", "z[1] = blue"]
    assert summary["z[0] = blue"]["mean"] == (draws["z"][..., 0] == 2).mean()
    assert list(summary.rows)[8] == "w = one of 5 others"
    assert sum(summary.rows[r]["mean"] for r in list(summary.rows)[4:9]) == pytest.approx(1)
    assert list(summary.rows)[9:] == ["n"]
    error = summary["z[1] = blue"]["mcse_mean"]
    assert error == pytest.approx(np.sqrt(0.4 * 0.6 / 800), rel=0.2)
    assert "z[0] = blue" in summary.to_dataframe().index
    assert "z[0] = blue" in summary._repr_html_()


def test_large_arrays_of_labels_have_no_more_rows_than_others():
    z = np.random.default_rng(1).integers(0, 3, (*SHAPE, 2000))
    draws = Draws({"z": z}, {"z": ("i",)}, attributes={"labels": '{"z": "kind"}'})
    summary = draws.summary(max_rows=7)

    assert [r.split(" = ")[0] for r in summary.rows] == ["z[0]"] * 3 + ["z[1999]"] * 3
    assert str(summary).splitlines()[6] == "z[...] 1998 more"
    assert summary.blocks[0].hidden == 1998
    assert len(draws.summary(max_rows=1).rows) == 3


def test_labels_are_told_of_draws_in_a_file_and_of_those_of_a_run(tmp_path):
    with gp.Model(coords={"i": 3, "kind": ["red", "green"]}) as model:
        gp.Categorical("z", 1 / 2, dims="i", event="kind")
    draws = gp.compile(model).sample(20, chains=1, warmup=0, seed=1, progress=False)
    assert {r.split(" = ")[1] for r in draws.summary().rows} == {"red", "green"}
    draws.save(tmp_path / "draws.nc")
    told = load_draws(tmp_path / "draws.nc").summary()
    assert {r.split(" = ")[1] for r in told.rows} == {"red", "green"}
    with pytest.raises(RunError, match=r"attributes\['labels'\]: found 'z', expected a text that"):
        Draws(draws.values, draws.dims, attributes={"labels": "z"})
