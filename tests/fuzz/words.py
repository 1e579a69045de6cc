"""Odd names, labels, numbers and arrays, as Python text; and code in the shape of a name."""

from fuzz.scripts import CANARY

CALL = f"{CANARY}()"

# Texts that run a function if they are written raw into code, a format or an expression.
CODE = (
    CALL,
    f'");{CALL}#',
    f"');{CALL}#",
    f'"""+str({CALL})+"""',
    f'"""\n{CALL}\n"""',
    f"'''\n{CALL}\n'''",
    f"x\n{CALL}",
    f"x\r{CALL}",
    f"x\u2028{CALL}",
    f"x\n    {CALL}\n    ",
    f"\\\n{CALL}",
    "x\\",
    f'x\\"+{CALL}+\\"',
    f"{{{CALL}}}",
    "{0.__class__}",
    "%(x)s %s %d",
    f"x # \n{CALL}",
    f"x]*{CALL}*y[0",
    f"x, {CALL}",
    f"x;{CALL};",
    f"lambda: {CALL}",
    f"__import__('builtins').{CALL}",
    f"x) or {CALL} or (x",
    f"f'{{{CALL}}}'",
    "\x00",
    "\ud800",
)

NAMES = (
    *("mu", "x", "y", "tau", "z", "p", "a b", "2nd", "", " ", "é", "größe", "x.y", "x[0]", "x'"),
    *("x₁", "i", "j", "class", "lambda", "None", "True", "import", "_", "__", "__class__", "rng"),
    *("s", "c", "eta", "np", "runtime", "sweep", "prepare", "state", "float", "len", "data"),
    *("x_given_rest", "y.known", "deviance", "chain", "draw", "pD", "model", "size", "self", "-x"),
    *("E", "I", "S", "Q", "pi", "oo", "nan", "Sum", "gamma", "a" * 300, "\n", "\t", "{}", "%s"),
)

NUMBERS = (
    *("0", "1", "2", "3", "-1", "0.5", "-0.0", "1.5", "1e300", "-1e300", "1e-300", "5e-324"),
    *("10**19", "2**63", "-2**63", "10**400", "float('nan')", "float('inf')", "-float('inf')"),
    *("True", "1j", "np.float32(0.5)", "np.int8(1)", "np.uint64(2**63)", "np.bool_(True)"),
    *("np.float64('nan')", "np.array(1.5)"),
)

ODD = (
    *("None", "''", "'x'", "b'x'", "[]", "{}", "()", "set()", "object()", "print", "int", "..."),
    *("[None]", "[[]]", "[[1, 2], [3]]", "[1, 'a', None]", "['a', 'b', 'c']", "{'a': 1}"),
    *("range(3)", "(k for k in range(3))", "slice(None)", "lambda *a: 1", "NotImplemented"),
    *("[[1]]", "np.array([])", "np.array(['a', 'b', 'c'])", "np.array([1, None, 3], dtype=object)"),
    *("np.array([1j, 2, 3])", "np.array(['2020-01-01', '2020-01-02', 'NaT'], dtype='M8[D]')"),
    *("np.array([1, 2, 3], dtype='m8[s]')", "np.zeros((3, 0))", "np.ma.masked"),
    *("np.zeros((1,) * 9)", "np.ma.masked_all(3)", "np.ma.masked_invalid([1.0, np.nan, 2.0])"),
    *("np.full(3, np.nan)", "np.array([(1, 2.0)], dtype=[('a', int), ('b', float)])"),
    *("np.matrix([[1.0, 2.0]])", "np.zeros((3, 2))", "np.ones((2, 3))", "np.eye(3)", "-np.eye(3)"),
    *("np.ones((3, 3))", "np.array([True, False, True])", "np.array([0, 1, 2])"),
    *("np.array([0, 1, 7])", "[0, 1, 0]", "[1.0, 2.0, 3.0]", "[0.5, 0.5, 0.0]", "[1, 2, 3]"),
    *("[-1, 0, 1]", "[1e300, -1e300, 0]", "[2**62, 2**62, 2**62]", "np.array([1.0, np.inf, 2.0])"),
    *("np.arange(5)", "[True, False, True]", "np.float16([1, 2, 3])"),
    *("np.array([10**30, 1, 2], dtype=object)", "[[1.0, 0.0], [0.0, 1.0]]"),
)

# What other libraries hold arrays and numbers in; ``scripts.LIBRARIES`` has their names.
HELD = (
    *("pd.Series([1, None, 3], dtype='Int64')", "pd.Series([1.5, None, 3], dtype='Float64')"),
    *("pd.Series([True, None, False], dtype='boolean')", "pd.Series(['a', 'b', 'c'])"),
    *("pd.Series(['a', None, 'b'], dtype='string')", "pd.Series([0, 1, 0], dtype='category')"),
    *("pd.Categorical(['a', 'b', 'a'], ordered=True)", "pd.CategoricalIndex(['c', 'a', 'b'])"),
    *("pd.Series([1, 2.5, None], dtype=object)", "pd.Series([1, pd.NaT, 'x'], dtype=object)"),
    *("pd.Series([[1], [2, 3], [4]])", "pd.Series([1.0, 2.0, 3.0], index=['c', 'b', 'a'])"),
    *("pd.Series([1.0, 2.0, 3.0], index=['a', 'a', None])", "pd.DataFrame({'a': [1.0, 2, 3]})"),
    *("pd.DataFrame(np.eye(3), index=[2, 1, 0])", "pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})"),
    *("pd.date_range('2020', periods=3)", "pd.date_range('2020', periods=3, tz='UTC')"),
    *("pd.to_timedelta([1, 2, 3], unit='D')", "pd.period_range('2020', periods=3, freq='Y')"),
    *("pd.interval_range(0, 3)", "pd.MultiIndex.from_tuples([(1, 2), (1, 3), (2, 3)])"),
    *("pd.arrays.SparseArray([0, 1.0, 0])", "pd.NA", "pd.NaT", "pd.Timestamp('2020')"),
    *("xr.DataArray([1.0, 2.0, 3.0], dims='i')", "xr.DataArray(np.eye(2), dims=('k', \"k'\"))"),
    *("xr.DataArray([1, 2, 3], dims='i', coords={'i': [2, 0, 1]})", "xr.DataArray(1.5)"),
    *("xr.DataArray([1, 2, 3], dims='j')", "xr.Dataset({'x': ('i', [1, 2, 3])})"),
    *("xr.Variable('i', [1.0, np.nan, 2.0])", "xr.DataArray(pd.date_range('2020', periods=3))"),
    *("sp.csr_array([[0, 3, 0], [1, 0, 0]])", "sp.coo_array([0, 1.5, 0])", "sp.eye_array(3)"),
    *("np.array(['9999-01-01', '0001-01-01'], dtype='M8[D]')", "np.longdouble([1, 2])"),
    *("np.array(['a', 'b', 'c'], dtype=np.dtypes.StringDType())", "np.array([1, 2], 'm8[5D]')"),
    *("[Fraction(1, 2), Fraction(3), Fraction(4)]", "[Decimal('1.5'), Decimal(2), Decimal('NaN')]"),
    *("Fraction(1, 3)", "Decimal('0.5')", "memoryview(np.arange(3.0))", "{'a': 1}.keys()"),
)

VALUES = (*NUMBERS, *ODD, *HELD)


def a_name(rng):
    """A name as Python text, odd one time of three."""
    if rng.random() < 0.6:
        return repr(rng.choice(("x", "y", "z", "a", "b", "mu", "tau", "p")))
    return repr(rng.choice((*NAMES, *CODE))) if rng.random() < 0.93 else a_value(rng)


def a_value(rng):
    """A value as Python text."""
    return rng.choice(VALUES)
