"""NumPy's and SciPy's functions on tensors: what NumPy says, or an error of ours; never in silence.

Each public function is called with arrays of numbers and with the tensors that have these values.
"""

import inspect
import math
import operator

import numpy as np
import pytest
from scipy import special

import gibbsppl as gp
from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.language.evaluate import evaluate

SPACES = {
    "numpy": np,
    "linalg": np.linalg,
    "fft": np.fft,
    "ma": np.ma,
    "random": np.random,
    "special": special,
    "math": math,
    "operator": operator,
}
# These change how NumPy runs, or run its tests.
LEFT_OUT = {"test", "seed", "set_state", "set_bit_generator", "setbufsize", "seterr", "seterrcall"}
LEFT_OUT |= {"set_printoptions", "printoptions", "get_state", "info"}


def public(module):
    """The functions of a module by name."""
    for name in sorted(set(dir(module)) - LEFT_OUT):
        found = getattr(module, name)
        if callable(found) and not name.startswith("_") and not inspect.isclass(found):
            yield name, found


@pytest.fixture(scope="module")
def model():
    """A vector and a square matrix, and their values."""
    vector = np.array([0.25, 0.5, 0.75])
    matrix = np.array([[2.0, 0.5, 0.1], [0.3, 3.0, 1.0], [1.0, 2.0, 4.0]])
    with gp.Model(coords={"i": 3, "j": 3}) as made:
        tensors = {
            "v": (gp.Data("v", vector, dims="j"), vector),
            "m": (gp.Data("m", matrix, dims=("i", "j")), matrix),
        }
    return made, tensors


CALLS = {
    "v": lambda v, _m: (v,),
    "m": lambda _v, m: (m,),
    "v, v": lambda v, _m: (v, v),
    "m, v": lambda v, m: (m, v),
    "m, m": lambda _v, m: (m, m),
    "v, 0": lambda v, _m: (v, 0),
    "2, v": lambda v, _m: (2, v),
    "v, v, v": lambda v, _m: (v, v, v),
    "list": lambda v, _m: ([v, v],),
    "axis": lambda v, _m: {"axis": 0, "a": v},
}


def called(function, arguments):
    with np.errstate(all="ignore"):
        return function(**arguments) if isinstance(arguments, dict) else function(*arguments)


def value_of(model, found):
    """The numbers that a result stands for, in the order of the dims."""
    if not isinstance(found, gp.Tensor):
        return found
    over = tuple(Range(Dim(d), 0, model.size(d)) for d in found.dims)
    return evaluate(found.expr, over, model.data, model.sizes)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("space", SPACES)
def test_a_function_of_numpy_is_ours_or_refused(space, model, capsys):
    for name, function in public(SPACES[space]):
        try:
            compare(function, *model)
        except BaseException as error:
            error.add_note(f"of {space}.{name}")
            raise


def compare(function, made, tensors):
    """What a function makes of tensors is what it makes of their values, or it is refused."""
    for arguments in CALLS.values():
        given = arguments(*(t for t, _ in tensors.values()))
        numbers = arguments(*(n.copy() for _, n in tensors.values()))
        try:
            expected = called(function, numbers)
        except Exception:  # noqa: BLE001, S112  (it does not take these arguments at all)
            continue
        try:
            found = called(function, given)
        except gp.GibbspplError:
            continue
        except (AttributeError, TypeError):
            continue  # (a few look for attributes of arrays before they ask for an array)
        if found is None:
            continue  # (np.bmat knows lists and arrays alone, and says nothing of all else)
        if type(expected).__name__ in ("generator", "ndenumerate"):
            assert type(found) is type(expected)
        else:
            np.testing.assert_allclose(value_of(made, found), expected, err_msg=str(given))


@pytest.mark.parametrize("axis", [0, None, False, 1.5, {"j"}, b"j"])
@pytest.mark.parametrize("fold", ["sum", "prod", "cumsum", "cumprod"])
def test_what_is_folded_over_is_a_name(fold, axis, model):
    vector = model[1]["v"][0]

    for folded in (getattr(vector, fold), lambda a: getattr(gp, fold)(vector, a)):
        with pytest.raises(gp.ModelError, match="dim"):
            folded(axis)


@pytest.mark.parametrize("dims", [0, 3, False, True, 1.5, {"i", "j"}])
def test_dims_are_names_in_order(dims):
    declared = {
        "Normal": lambda: gp.Normal("x", 0, sigma=1, dims=dims),
        "event": lambda: gp.Dirichlet("x", 1, dims="i", event=dims),
        "Array": lambda: gp.Array("x", dims=dims),
        "Data": lambda: gp.Data("x", 1.0, dims=dims),
        "Index": lambda: gp.Index("x", 1, of="i", dims=dims),
        "Deterministic": lambda: gp.Deterministic("x", 1, dims=dims),
        "Potential": lambda: gp.Potential("x", 1, dims=dims),
    }
    for declare in declared.values():
        with (
            gp.Model(coords={"i": 2, "j": 2}),
            pytest.raises(gp.ModelError, match=r"x: found the dims .* names of dimensions"),
        ):
            declare()


@pytest.mark.parametrize(
    "use",
    [
        lambda v: v // 2,
        lambda v: 7 % v,
        lambda v: divmod(v, 2),
        lambda v: (v < 1) & (v > 0),
        lambda v: ~(v < 1),
        lambda v: True | v,
        len,
        lambda v: 1.0 in v,
        lambda v: [1, 2, 3][v],
        lambda v: round(v, 2),
        lambda v: np.add(v, 1, where=False),
        lambda v: np.multiply(v, v, dtype=int),
        lambda v: np.ones(3) @ v,
        lambda v: v @ [1.0, 2.0, 3.0],
        lambda v: np.ones(3) * v,
        lambda v: gp.exp([v, v]),
        lambda v: gp.Normal("y", [v, v], sigma=1),
        lambda v: gp.Normal("y", 0, sigma=1, dims="j", observed=[v, v, v]),
    ],
)
def test_a_tensor_is_neither_a_number_nor_an_array(use, model):
    vector = model[1]["v"][0]

    with pytest.raises(gp.ModelError), model[0]:
        use(vector)
