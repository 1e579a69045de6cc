"""Data and initial values in all forms: what is read, in which order, and what no text can do."""

import ast
import json
import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from bugs_texts import DATA, mutated, seconds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

import gibbsppl.bugs
from gibbsppl.bugs.data import read_data
from gibbsppl.bugs.dumps import MOST_AXES
from gibbsppl.bugs.reader import DEEPEST_NESTING
from gibbsppl.bugs.scanner import LONGEST_RANGES
from gibbsppl.bugs.syntax import BugsError

COMMON = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow],
}


def same(found, expected):
    """Whether two arrays agree in type, shape, mask and what is not masked."""
    expected = np.asanyarray(expected)
    return (
        type(found) is type(expected)
        and found.dtype == expected.dtype
        and found.shape == expected.shape
        and np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
        and np.array_equal(np.ma.filled(found, 0), np.ma.filled(expected, 0))
    )


def masked(values, kind):
    """An array with None where it is masked."""
    told = np.array(values, dtype=object)
    mask = np.equal(told, None)
    return np.ma.MaskedArray(np.where(mask, 0, told).astype(kind), mask)


def test_arrays_that_differ_are_told_apart():
    assert same(np.array([1, 2]), [1, 2])
    assert not same(np.array([1, 2]), [1.0, 2.0])
    assert not same(np.array([1, 2]), [1, 3])
    assert not same(np.array([1]), 1)
    assert not same(np.array([1, 0]), masked([1, None], int))
    assert not same(masked([None, 1], int), masked([1, None], int))


# ---- values ----------------------------------------------------------------------------------

VALUES = {
    "3": 3,
    "3L": 3,
    "3.0": 3.0,
    "3.": 3.0,
    ".5": 0.5,
    "-3": -3,
    "+3": 3,
    "-1.5E-3": -0.0015,
    "1e+05": 1e5,
    "1e5L": 100000,
    "TRUE": 1,
    "F": 0,
    "Inf": np.inf,
    "-Inf": -np.inf,
    "NA": masked(None, float),
    "NaN": masked(None, float),
    "NA_integer_": masked(None, float),
    "c(3)": [3],
    "c(1, 2)": [1, 2],
    "c( 1,2 ,\n3)": [1, 2, 3],
    "c(1, 2.5)": [1.0, 2.5],
    "c(1L, 2)": [1, 2],
    "c(1, NA, 3L)": masked([1, None, 3], int),
    "c(1.5, NA_real_, NaN)": masked([1.5, None, None], float),
    "c(NA, NA)": masked([None, None], float),
    "c(1, Inf)": [1, np.inf],
    "c(TRUE, T, FALSE, NA)": masked([1, 1, 0, None], int),
    "c(a = 1, 'b c' = 2, T = 3, \"d\" = NA)": masked([1, 2, 3, None], int),
    "c(1, # one\n 2 /* two */, 3)": [1, 2, 3],
    "c(1, c(2, c(3, 4)), 5)": [1, 2, 3, 4, 5],
    "c(1:3, 7, 5:4)": [1, 2, 3, 7, 5, 4],
    "c(1:2, 2.5)": [1.0, 2.0, 2.5],
    "c(NA, 1:2)": masked([None, 1, 2], int),
    "1:5": [1, 2, 3, 4, 5],
    "2:-1": [2, 1, 0, -1],
    "3:3": [3],
    "1L:3L": [1, 2, 3],
    "1.0:3": [1, 2, 3],
    "as.integer(c(1, 2.0, NA))": masked([1, 2, None], int),
    "as.numeric(1:2)": [1.0, 2.0],
    "as.double(3)": 3.0,
    "as.integer(structure(c(1, 2), .Dim = 2))": [1, 2],
    "integer(0)": np.zeros(0, dtype=int),
    "numeric(0)": np.zeros(0, dtype=int),
    "12345678901234567890": 12345678901234567890.0,
    "c(1, 123456789012345678)": [1, 123456789012345678],
    "structure(c(1, 2, 3, 4), .Dim = c(2L, 2L))": [[1, 3], [2, 4]],
    "structure(c(1, 2, 3, 4), dim = c(2, 2))": [[1, 3], [2, 4]],
    "structure(1:4, .Dim = as.integer(c(2, 2)))": [[1, 3], [2, 4]],
    "structure(.Dim = c(2, 2), 1:4)": [[1, 3], [2, 4]],
    "structure(c(1, 2), .Dim = 2L)": [1, 2],
    "structure(c(1, 2), .Dim = structure(2L, .Names = 'n'))": [1, 2],
    "structure(3, .Dim = 1L)": [3],
    "structure(c(1, 2), .Names = c('a', \"b)\"))": [1, 2],
    "structure(c(1, 2), names = c('it''s', 'a \\' b'))": [1, 2],
    "structure(1:4, .Dim = c(2, 2), .Dimnames = list(NULL, c('a', 'b')))": [[1, 3], [2, 4]],
    "structure(c(1L, 2L), levels = c('a', 'b'), class = 'factor')": [1, 2],
    "structure(c(5, 6), .Tsp = c(1, 2, 1), class = 'ts')": [5, 6],
    "structure(c(NA, 1, 2, 3), .Dim = c(2, 2))": masked([[None, 2], [1, 3]], int),
}


@pytest.mark.parametrize("written", VALUES)
def test_values_of_an_assignment(written):
    assert same(read_data(f"x <- {written}")["x"], VALUES[written])


@pytest.mark.parametrize("written", VALUES)
def test_values_of_a_list(written):
    read = read_data(f"list(N = 1, x = {written}, z = 2)")

    assert list(read) == ["N", "x", "z"]
    assert same(read["x"], VALUES[written])


@pytest.mark.parametrize(
    "start", ["x <- ", "x = ", "'x' <- ", '"x" <-\n', "`x` <- ", ";; x<-", "# a\nx <-"]
)
def test_names_of_an_assignment(start):
    assert same(read_data(f"{start}-3; y <- 4")["x"], -3)


@pytest.mark.parametrize(
    "name", ["T", "F", "c", "list", "structure", "NA", "tau.c", "END", "e1", "a_b"]
)
def test_names_that_are_words_elsewhere(name):
    assert same(read_data(f"{name} <- 3")[name], 3)
    assert same(read_data(f"{name} = c(1, 2)\nb <- 1")[name], [1, 2])
    assert same(read_data(f"list(N = 30, {name} = 5, z = c(1))")[name], 5)
    assert same(read_data(f"{name}[] z[]\n1 2\nEND")[name], [1])


def test_the_data_of_a_row_by_row_list_and_of_r_in_one_place():
    by_row = "structure(.Data = c(1, 2, 3, 4, 5, 6), .Dim = c(2, 3))"
    plain = by_row.replace(".Data = ", "")

    # BUGS's lists go row by row; R (and JAGS, of its dumps) column by column.
    assert same(read_data(f"list(Y = {by_row})")["Y"], [[1, 2, 3], [4, 5, 6]])
    assert same(read_data(f"Y <- {by_row}")["Y"], [[1, 3, 5], [2, 4, 6]])
    assert same(read_data(f"list(Y = {plain})")["Y"], [[1, 3, 5], [2, 4, 6]])


def test_the_dimensions_of_a_list_may_come_first():
    text = "list(Y = structure(.Dim = c(2, 3), .Data = c(1, 2, 3, 4, 5, 6)))"

    assert same(read_data(text)["Y"], [[1, 2, 3], [4, 5, 6]])


def test_a_list_as_r_printed_it_for_long():
    text = 'structure(list(N = 2, y = c(1, NA)), .Names = c("N", "y"))\nz <- 3'

    assert {n: v.tolist() for n, v in read_data(text).items()} == {"N": 2, "y": [1, None], "z": 3}


def test_settings_of_random_numbers_are_left_out():
    text = '".RNG.name" <- "base::Wichmann-Hill"\n`.RNG.seed` <- 3\n.RNG.state <- c(1, 2)\ntau <- 1'

    assert list(read_data(text)) == ["tau"]


def test_a_list_without_parts():
    assert read_data("list()") == {}
    assert read_data("{}") == {}


# ---- tables ----------------------------------------------------------------------------------

TABLES = {
    "x[]\n1\n2\nEND": {"x": [1, 2]},
    "x[] y[]\n1 2.5\n3 NA\nEND\n": {"x": [1, 3], "y": masked([2.5, None], float)},
    "  x[ ]\ty[ , 1 ]\ty[,2]\n\n 1 2 3 \n\n# a\n\t4\t5\t6 # b\n  END  \n": {
        "x": [1, 4],
        "y": [[2, 3], [5, 6]],
    },
    "y[,2] x[] y[,1]\n1 2 3\n4 5 6\nEND": {"y": [[3, 1], [6, 4]], "x": [2, 5]},
    "x[]\ny[]\n1 2\nEND": {"x": [1], "y": [2]},
    "x[]\nEND": {"x": np.zeros(0, dtype=int)},
    "x[]\n1L\nTRUE\n-2\nEND": {"x": [1, 1, -2]},
    "x[]\n1e-3\nInf\nEND": {"x": [1e-3, np.inf]},
    "y[,1,1] y[,1,2]\n1 2\nEND": {"y": [[[1, 2]]]},
}


@pytest.mark.parametrize("table", TABLES)
def test_tables(table):
    read = read_data(table)

    assert list(read) == list(TABLES[table])
    assert all(same(read[name], TABLES[table][name]) for name in read)


def test_several_parts_of_one_text():
    text = "list(N = 2)\nx[] y[]\n1 2\n3 4\nEND\nT <- 5\nz[]\n6\nEND list(k = 1:2)\n"
    read = {n: v.tolist() for n, v in read_data(text).items()}

    assert read == {"N": 2, "x": [1, 3], "y": [2, 4], "T": 5, "z": [6], "k": [1, 2]}


# ---- JSON and mappings -----------------------------------------------------------------------

JSON = {
    "3": 3,
    "3.0": 3.0,
    "true": 1,
    "null": masked(None, float),
    "[1, 2]": [1, 2],
    "[1, 2.5]": [1.0, 2.5],
    "[1, null]": masked([1, None], int),
    "[[1, 2, 3], [4, 5, 6]]": [[1, 2, 3], [4, 5, 6]],
    "[[[1], [2]], [[3], [4]]]": [[[1], [2]], [[3], [4]]],
    "[]": np.zeros(0, dtype=int),
    "[[], []]": np.zeros((2, 0), dtype=int),
    "-1e-3": -1e-3,
    "12345678901234567890": 12345678901234567890.0,
    "[false, true, null]": masked([0, 1, None], int),
}


@pytest.mark.parametrize("written", JSON)
def test_json(written):
    assert same(read_data(f'\n {{"x": {written}, "N": 1}}')["x"], JSON[written])


class NAType:
    """As pandas' mark of a missing entry calls itself."""


MAPPED = {
    "a number": (3, 3),
    "a number with a fraction": (3.5, 3.5),
    "a truth": (np.True_, 1),
    "a list": ([1, 2], [1, 2]),
    "a small type": (np.array([1, 2], dtype=np.int8), [1, 2]),
    "half precision": (np.array([1.5], dtype=np.float32), [1.5]),
    "a large integer": (np.array([2**63 + 2**12], dtype=np.uint64), [2.0**63 + 2**12]),
    "none": ([[1, None], [3, 4]], masked([[1, None], [3, 4]], int)),
    "pandas' mark": ([1.5, NAType()], masked([1.5, None], float)),
    "a masked array": (np.ma.masked_equal([1, 2, -9], -9), masked([1, 2, None], int)),
    "a masked array with nothing masked": (np.ma.MaskedArray([1, 2]), [1, 2]),
    "a masked NaN": (np.ma.masked_invalid([1.0, np.nan]), masked([1.0, None], float)),
    "infinity": ([0.5, np.inf], [0.5, np.inf]),
    "nothing known": ([None, None], masked([None, None], float)),
}


@pytest.mark.parametrize("case", MAPPED)
def test_a_mapping_is_passed_through(case):
    given_values, expected = MAPPED[case]

    assert same(read_data({"x": given_values})["x"], expected)


def test_missing_entries_are_zero_underneath():
    texts = ("x <- c(1.5, NA, NaN)", "list(x = c(1.5, NA, NA))", '{"x": [1.5, null, null]}')
    mapping = {"x": np.ma.masked_invalid([1.5, np.nan, np.inf])}

    for source in (*texts, mapping):
        assert np.array_equal(np.ma.getdata(read_data(source)["x"]), [1.5, 0, 0])


def test_a_mapping_is_copied():
    values = np.array([1, 2])
    read_data({"x": values})["x"][0] = 9

    assert values[0] == 1


BAD_MAPPINGS = {
    "NaN": ({"x": [1, np.nan]}, "data: x: found NaN, expected numbers: mark missing entries by"),
    "texts": ({"x": ["a"]}, "data: x: found values of type <U1, expected numbers in a rect"),
    "complex": ({"x": 1j}, "data: x: found values of type complex128, expected numbers"),
    "objects": ({"x": [object()]}, "data: x: found values of type object, expected numbers"),
    "ragged": ({"x": [[1], [2, 3]]}, "data: x: found lists of different lengths, expected numbers"),
    "a name": ({"my x": 3}, "data: found the name 'my x', expected the name of a variable: a let"),
    "no name": ({3: 3}, "data: found the name 3, expected the name of a variable: a letter, then"),
}


@pytest.mark.parametrize("case", BAD_MAPPINGS)
def test_a_bad_mapping_gives_its_message(case):
    mapping, message = BAD_MAPPINGS[case]
    with pytest.raises(BugsError) as caught:
        read_data(mapping)

    assert str(caught.value).startswith(message)


# ---- one array in all forms ------------------------------------------------------------------


def r_number(value):
    if value is None:
        return "NA"
    return f"{value}L" if isinstance(value, int) else repr(value)


def numbers_of(array, order):
    """The entries in an order, as Python has them, written as R does."""
    return [r_number(v) for v in np.ma.asarray(array).ravel(order).tolist()]


def sizes_of(array):
    return ", ".join(map(str, array.shape))


def as_dump(array):
    return f"x <- structure(c({', '.join(numbers_of(array, 'F'))}), .Dim = c({sizes_of(array)}))"


def as_list(array):
    numbers = ", ".join(numbers_of(array, "C"))
    return f"list(x = structure(.Data = c({numbers}), .Dim = c({sizes_of(array)})))"


def as_table(array):
    parts = list(np.ndindex(array.shape[1:]))
    heading = " ".join(f"x[{''.join(f',{k + 1}' for k in part)}]" for part in parts)
    rows = [" ".join(numbers_of(row, "C")) for row in np.ma.asarray(array)]
    return "\n".join([heading, *rows, "END"])


def as_json(array):
    return json.dumps({"x": np.ma.asarray(array).tolist()})


FORMS = (as_dump, as_list, as_table, as_json)

SHAPES = arrays_of.array_shapes(min_dims=1, max_dims=4, max_side=3)
ARRAYS = st.one_of(
    arrays_of.arrays(np.int64, SHAPES, elements=st.integers(-(2**53), 2**53)),
    arrays_of.arrays(np.float64, SHAPES, elements=st.floats(allow_nan=False, allow_infinity=False)),
)


@settings(**COMMON, max_examples=200)
@given(ARRAYS, st.data())
def test_an_array_is_the_same_in_all_forms(array, data):
    mask = data.draw(arrays_of.arrays(np.bool_, array.shape))
    mask.flat[0] = False  # of what type an array of nothing is cannot be told
    expected = np.ma.MaskedArray(array, mask) if mask.any() else array

    for form in FORMS:
        assert same(read_data(form(expected))["x"], expected), form.__name__


@pytest.mark.parametrize("form", FORMS)
def test_orders_of_elements(form):
    array = np.arange(24).reshape(2, 3, 4)

    assert same(read_data(form(array))["x"], array)
    assert not same(read_data(form(array.transpose(0, 2, 1)))["x"], array)


# ---- files and layout ------------------------------------------------------------------------


@pytest.mark.parametrize("text", DATA)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files(tmp_path, text, encoding):
    path = tmp_path / "data.txt"
    path.write_bytes(text.replace("\n", "\r\n").encode(encoding))
    read, expected = read_data(path), read_data(text)

    assert list(read) == list(expected)
    assert all(same(read[name], expected[name]) for name in read)


def test_an_error_names_its_file(tmp_path):
    path = tmp_path / "rats.R"
    path.write_text("x <- rep(0, 5)")

    with pytest.raises(BugsError, match=r"^rats\.R, line 1, column 6: found 'rep'"):
        read_data(path)
    with pytest.raises(BugsError, match=r"^initial values, line 1"):
        read_data(path, "initial values")
    with pytest.raises(BugsError, match=r"cannot be read .*: check the name"):
        read_data(tmp_path / "mice.R")


# ---- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["c(", "structure(", "as.integer(", "c(1, ", "structure(.Data = "])
def test_deep_nesting_is_read_to_a_stated_depth(unit):
    def nested(depth):
        return f"x <- {unit * depth}1{')' * depth}"

    assert read_data(nested(DEEPEST_NESTING))["x"].flat[-1] == 1
    for depth in (DEEPEST_NESTING + 1, 20_000):
        with pytest.raises(BugsError, match=f"expected no more than {DEEPEST_NESTING} brackets"):
            read_data(nested(depth))


def test_labels_may_be_nested_to_any_depth():
    depth = 5_000
    text = f"x <- structure(1:2, .Names = {'list(' * depth}{')' * depth})"

    assert same(read_data(text)["x"], [1, 2])


def test_numbers_of_very_many_digits():
    digits = "9" * 5_000
    texts = (f"x <- {digits}", f"x <- c(NA, {digits})", f"x <- -{digits}L", f"x <- 1e{digits}")

    for text in (*texts, f"x[]\n{digits}\nEND"):
        with pytest.raises(BugsError, match="expected a number below"):
            read_data(text)
    assert read_data(f"x <- 0.{digits}")["x"] == 1


def test_axes_are_read_to_a_stated_number():
    ones = ", ".join(["1"] * MOST_AXES)

    assert read_data(f"x <- structure(7, .Dim = c({ones}))")["x"].ndim == MOST_AXES
    assert read_data(f'{{"x": {"[" * MOST_AXES}7{"]" * MOST_AXES}}}')["x"].ndim == MOST_AXES
    with pytest.raises(BugsError, match="the sizes of an array"):
        read_data(f"x <- structure(7, .Dim = c({ones}, 1))")


def test_ranges_are_read_to_a_stated_length():
    assert read_data(f"x <- 1:{LONGEST_RANGES}")["x"][-1] == LONGEST_RANGES
    for text in (f"x <- 0:{LONGEST_RANGES}", "x <- 1:1e300", "x <- c(" + "1:100000," * 101 + "1)"):
        with pytest.raises(BugsError, match="expected no more than"):
            read_data(text)


def large(count):
    numbers = ", ".join(f"{k}.5" for k in range(count))
    row = "1 2.5 NA\n"
    return f"x <- c({numbers}, NA)\nlist(y = c({numbers}))\na[] b[] c[]\n{row * count}END\n"


def outcome(text):
    """The arrays of a text, which are as promised, or its error, whose message is not endless."""
    try:
        read = read_data(text)
    except BugsError as error:
        lines = str(error).split("\n")
        assert len(lines) in (1, 3)
        assert max(map(len, lines)) < 500
        return error
    for array in read.values():
        assert array.dtype in (np.int64, np.float64)
        assert array.flags.c_contiguous
        assert not np.isnan(np.ma.getdata(array)).any()
        if isinstance(array, np.ma.MaskedArray):
            assert array.mask.any()
            assert not np.ma.getdata(array)[array.mask].any()
    return read


def test_time_is_linear_in_the_text():
    """Four times the text in less than halfway (on the scale of logarithms) to sixteen times."""
    small, more = large(10_000), large(40_000)
    ratios = [
        min(seconds(lambda: read_data(more)) for _ in range(2))
        / min(seconds(lambda: read_data(small)) for _ in range(2))
        for _ in range(3)
    ]

    assert min(ratios) < 8


BAD_UNITS = (
    "(", "[", "x[", "c(", "c(1,", "structure(", "list(", "-", "1", "1 ", "9.", "a", " ", "\n", "#",
    "#\n", "/*", '"', "'", "`", "<-", "1e", "1e5,", "NA,", "NA", "1:2,", "1:", ",", "x[] ", "T,",
    "1 2\n", "END\n", "x <- 1\n", "a=1,", '{"a":', '"a":1,', "[1],", "null,", "\0", "\u00e9",
)  # fmt: skip


@pytest.mark.parametrize("start", ["", "x <- c(", "list(", "x[] y[]\n", '{"a": [', "{"])
def test_bad_texts_take_no_longer_than_good_ones(start):
    """Good ones of one-item lists, which are read piece by piece like most of what is bad."""
    size = 30_000
    good = "".join(f"x{k} <- c({k})\n" for k in range(size // 14))

    def bad():
        for unit in BAD_UNITS:
            outcome(start + unit * (size // len(unit)))

    assert seconds(bad) < len(BAD_UNITS) * max(seconds(lambda: read_data(good)) for _ in range(3))


# ---- any text --------------------------------------------------------------------------------

WORDS = (
    "x", "y.z", "T", "NA", "NaN", "Inf", "TRUE", "1", "2.5", "-1", "3L", "1e5", "1e999", "0x1",
    "<-", "=", "c(", "(", ")", ",", ":", "1:3", "1:99999999", ";", "\n", "structure(", "list(",
    ".Data =", ".Dim =", "c(2, 2)", "1:4", ".Names =", "'a'", '"', "`", "as.integer(", "x[]",
    "integer(0)", "y[,1]", "y[,2]", "END", "{", "}", "[", "]", '"x":', "null", "#", "/*", "*/",
    "*", "+", "\0", "x <- c(1, NA)\n", "list(x = 1, ", "rep(", ".RNG.seed <-", "\u00e9", "\u0661",
)  # fmt: skip


@settings(**COMMON, max_examples=800)
@given(st.lists(st.sampled_from(WORDS), max_size=25), st.sampled_from(["", " "]))
def test_any_words_are_data_or_an_error(words, between):
    outcome(between.join(words))


@settings(**COMMON, max_examples=400)
@given(st.text(max_size=200), st.sampled_from(["", "x<-", "x<-c(1, ", "list(x=", "{", "x[]\n"]))
def test_any_text_is_data_or_an_error(anything, start):
    outcome(start + anything)


@settings(**COMMON, max_examples=200)
@given(st.binary(max_size=200), st.sampled_from([b"", b"x <- c(1, ", b'{"x": [', b"x[]\n1\n"]))
def test_any_bytes_are_data_or_an_error(anything, start):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.R"
        path.write_bytes(start + anything)
        outcome(path)


@pytest.mark.parametrize("source", DATA)
def test_mutations_of_data_are_data_or_errors(source):
    rng = random.Random(6)  # noqa: S311  (no secret)
    found = [type(outcome(mutated(rng, source, WORDS))) for _ in range(700)]

    # Both happen, so that the mutations are neither all harmless nor all broken at once.
    assert len(set(found)) == 2


def test_no_text_is_evaluated():
    forbidden = {"eval", "exec", "compile", "__import__", "literal_eval", "pickle", "importlib"}
    folder = Path(gibbsppl.bugs.__file__).parent
    found = {
        (path.name, node.id)
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id in forbidden
    }

    assert len(list(folder.glob("*.py"))) > 10
    assert found == set()
