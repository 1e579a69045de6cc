"""Files of draws written by h5netcdf alone: the same, to each attribute, that xarray writes."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
import xarray as xr

from gibbsppl.output import files, netcdf
from gibbsppl.output.draws import Draws
from gibbsppl.sampling.resuming import load_draws


def draws(**more):
    rng = np.random.default_rng(1)
    values = {"x": rng.normal(size=(2, 5, 3)), "day": np.zeros((2, 5, 2), bool), **more}
    return Draws(
        values=values,
        dims={"x": ("school",), "day": ("day",), "late": ("far",), "small": ("lag",)},
        coords={
            "school": np.array(["a", "Élan", "c"]),
            "day": np.array([8.0, 22.0]),
            "far": np.array(["2020-01-01", "9999-01-01"], "M8[D]"),
            "lag": np.array([24, 48], "m8[h]"),
            "when": np.array(["2020-01-01", "2020-01-03"], "M8[D]"),
            "mixed": np.array(["a", 2, None], dtype=object),
        },
        observed_data={"y": (("school",), np.array([1.0, np.nan, 3.0]))},
        constant_data={
            "n": ((), np.array(3)),
            "count": (("when",), np.array([1, 2], "i2")),
            "school": (("mixed",), np.array([1, 2, 3], "u4")),
        },
        sample_stats={"acceptance of x": np.full((2, 5), 0.5)},
        attributes={
            "seed": 1 << 70, "warmup": 500, "seconds": 0.5, "model": "Rüben", "flag": True,
            "share": np.float32(0.25), "count": np.int16(3), "none": None,
        },
    )


MORE = {"late": np.ones((2, 5, 2), "f4"), "small": np.ones((2, 5, 2), np.int8)}


def contents(path):
    """All that an HDF5 file has, but for references, which are places in the file."""
    found = {}

    def attributes(owner):
        for name, value in owner.attrs.items():
            kind = owner.attrs.get_id(name)
            is_reference = name in ("REFERENCE_LIST", "DIMENSION_LIST")
            yield name, kind.shape, str(kind.dtype), None if is_reference else repr(value)

    def visit(name, owner):
        found[name] = sorted(attributes(owner))
        if isinstance(owner, h5py.Dataset):
            scales = [[s.name for s in dim.values()] for dim in owner.dims]
            layout = (owner.chunks, owner.maxshape, owner.compression, repr(owner.fillvalue))
            found[name] += [str(owner.dtype), owner.is_scale, scales, layout, repr(owner[()])]

    with h5py.File(path) as file:
        found["/"] = sorted(attributes(file))
        file.visititems(visit)
    return found


@pytest.mark.parametrize("more", [{}, MORE], ids=["few", "types"])
def test_the_file_is_the_one_that_xarray_writes(tmp_path, more):
    ours, theirs = tmp_path / "ours.nc", tmp_path / "theirs.nc"
    ours.write_bytes(netcdf.written(draws(**more)))
    theirs.write_bytes(files.written(draws(**more)))

    found, expected = contents(ours), contents(theirs)
    # (xarray counts lengths of time in the largest unit that has no fractions)
    lengths = found.pop("posterior/lag", None), expected.pop("posterior/lag", None)
    assert found == expected
    assert (lengths[0] is None) == ("small" not in more)
    with (
        xr.open_datatree(ours, engine="h5netcdf") as mine,
        xr.open_datatree(theirs, engine="h5netcdf") as other,
    ):
        xr.testing.assert_identical(mine.load(), other.load())


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_lengths_of_time_are_read_as_they_were(tmp_path, unit):
    lags = np.array([1, 3], f"m8[{unit}]")
    saved = Draws({"x": np.zeros((1, 4, 2))}, {"x": ("lag",)}, {"lag": lags})
    saved.save(tmp_path / "draws.nc")

    assert (load_draws(tmp_path / "draws.nc").coords["lag"] == lags).all()


@pytest.mark.parametrize(
    "odd",
    [{"k": np.zeros((2, 5), "f2")}, {"k": np.zeros((2, 5), ">f8")}, {"a/b": np.zeros((2, 5))}],
    ids=["half", "swapped", "slash"],
)
def test_what_is_seldom_is_left_to_xarray(odd):
    assert netcdf.written(draws(**odd)) is None


def test_a_planted_fault_would_be_seen(tmp_path, monkeypatch):
    path = tmp_path / "draws.nc"
    monkeypatch.setattr(netcdf, "_encoded", lambda value: (value.astype("i1"), {}))
    found = draws()
    found = Draws(values={"day": found["day"]}, dims={"day": ("day",)})
    path.write_bytes(netcdf.written(found))
    other = tmp_path / "other.nc"
    other.write_bytes(files.written(found))

    assert contents(path) != contents(other)


def test_saving_imports_neither_xarray_nor_pandas(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "from gibbsppl.output.draws import Draws\n"
        f"Draws({{'x': np.zeros((2, 9))}}).save({str(tmp_path / 'draws.nc')!r})\n"
        "print(sorted({'xarray', 'pandas', 'scipy.special'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"
    assert load_draws(tmp_path / "draws.nc")["x"].shape == (2, 9)
