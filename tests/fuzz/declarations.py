"""Programs in the Python notation: valid ones with a few expressions replaced, and random calls."""

import ast

from fuzz.words import HELD, NUMBERS, ODD, a_name, a_value
from gibbsppl.families import FAMILIES

# Valid programs: a model, lines in it, and which data may be new in a prediction.
PROGRAMS = (
    """\
gp.Model(coords={"i": 3, "j": ["a", "b"]}, name="line")
x = gp.Data("x", [1.0, 2.0, 4.0], dims="i")
a = gp.Normal("a", 0, sigma=10)
b = gp.Normal("b", a, tau=0.1, dims="j")
g = gp.Index("g", [0, 1, 1], of="j", dims="i")
s = gp.HalfNormal("s", sigma=2)
y = gp.Normal("y", a + b[g] * x, sigma=s, dims="i", observed=[1.0, 2.0, 2.5])
e = gp.Deterministic("e", gp.exp(a) / 2)
""",
    """\
gp.Model(coords={"i": 4, "k": 2})
w = gp.Dirichlet("w", 1, dims="k", event="k")
mu = gp.Normal("mu", 0, sigma=10, dims="k")
z = gp.Categorical("z", w, dims="i", event="k")
y = gp.Normal("y", mu[z], sigma=1, dims="i", observed=[-2.0, -1.0, 2.0, 3.0])
gp.Constraint("order", mu.lag("k", 1) < mu)
""",
    """\
gp.Model(coords={"t": 4})
x = gp.Array("x", dims="t")
x[0] = gp.Normal(0, sigma=10)
x[1:] = gp.Normal(x.lag("t", 1), sigma=1)
y = gp.Normal("y", x, sigma=1, dims="t", observed=np.ma.masked_invalid([1.0, np.nan, 2.0, 3.0]))
""",
    """\
gp.Model(coords={"i": 3})
rate = gp.Gamma("rate", 2, rate=1)
gp.Poisson("n", rate, dims="i", observed=[0, 3, 1])
gp.Censored("time", gp.Exponential(rate=rate), event=[1, 0, 1], dims="i", observed=[0.5, 2.0, 1.0])
p = gp.Beta("p", 1, 1)
h = gp.Binomial("h", 10, gp.where(rate > 1, p, gp.expit(rate)), observed=7)
""",
    """\
gp.Model(coords={"row": 2, "col": 2})
u = gp.Bernoulli("u", 0.5, dims=("row", "col"))
s = 2 * u - 1
gp.Potential("down", 0.4 * s * s.lag("row", 1))
gp.Potential("right", 0.4 * s * s.lag("col", 1))
gp.Potential("meet", 0.8 * gp.equals(u.at("col", 0), u.at("col", -1)))
""",
    """\
gp.Model(coords={"site": 3})
i, j = gp.Neighbours("border", [[1], [0, 2], [1]], of="site")
f = gp.Array("f", dims="site")
f[0] = 0
f[1:] = gp.Flat()
gp.Potential("alike", -2 * (f[i] - f[j]) ** 2)
c = gp.Deterministic("c", gp.centred(f, "site"))
y = gp.Normal("y", c, sigma=1, dims="site", observed=[1.0, 3.0, 2.0])
""",
    """\
gp.Model(coords={"u": 3, "v": 2, "k": 2})
A = gp.Gamma("A", 1, rate=1, dims=("u", "k"))
B = gp.Gamma("B", 1, rate=1, dims=("v", "k"))
y = gp.Poisson("y", A @ B, dims=("u", "v"), observed=[[1, 0], [2, 3], [0, 0]])
q = gp.Deterministic("q", A.sum("k").prod("u") + B.cumsum("k").sum(("v", "k")))
""",
    """\
gp.Model(coords={"i": 3, "k": 2})
V = gp.Data("V", np.eye(2), dims=("k", "k'"))
L = gp.Wishart("L", 3, V=V, dims=("k", "k'"))
m = gp.Normal("m", 0, sigma=1, dims="k")
y = gp.MvNormal("y", m, tau=L, dims=("i", "k"), event="k", observed=np.ones((3, 2)))
v = gp.Beta("v", 1, 2, dims="k")
t = gp.StudentT("t", 4, mu=m, sigma=2, dims="k", observed=[0.5, 1.0])
""",
    """\
gp.Model(coords={"n": 2, "m": 2})
A = gp.Data("A", [[1.0, 1.0], [0.0, 1.0]], dims=("n", "m"))
P = gp.Dirichlet("P", A, dims=("n", "m"), event="m")
b = gp.Index("b", [0, 0, 1], of="n", dims="time")
a = gp.Categorical("a", P[b], dims="time", observed=[0, 1, 1])
d = gp.Uniform("d", 0, gp.maximum(1, 2))
e = gp.Normal("e", d, sigma=1, lower=0, upper=d + 5, observed=1.5)
""",
    """\
gp.Model()
x = gp.Normal("x", 0, sigma=1)
y = gp.Bernoulli("y", gp.Phi(x), observed=1)
n = gp.NegativeBinomial("n", 2, p=gp.expit(x), dims="k", observed=[1, 2, 0])
""",
)

EXPRESSIONS = (
    *("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{0} ** {1}", "{0} @ {1}", "-{0}"),
    *("{0}[{1}]", "{0}[0]", "{0}[-1]", "{0}[9]", "{0}[:, 0]", "{0}[1:]", "{0}[...]", "{0}[None]"),
    *("{0}.lag({d}, 1)", "{0}.lag({d}, {n})", "{0}.at({d}, {n})", "{0}.sum({d})", "{0}.prod({d})"),
    *("{0}.cumsum({d})", "{0}.cumprod({d})", "{0}.stick_breaking({d})", "gp.sum({0}, {d})"),
    *("gp.exp({0})", "gp.log({0})", "gp.sqrt({0})", "gp.abs({0})", "gp.logit({0})"),
    *("gp.expit({0})", "gp.Phi({0})", "gp.loggamma({0})", "gp.where({0}, {1}, 0.5)"),
    *("gp.minimum({0}, {1})", "gp.max({0}, {d})", "gp.min({0}, {d})", "gp.step({0})"),
    *("gp.equals({0}, {1})", "{0} < {1}", "{0} >= {1}", "{0} == {1}", "({0} < {1}) * ({1} < 2)"),
    *("{0} % 2", "{0} // 2", "np.exp({0})", "np.mean({0})", "np.dot({0}, {1})", "np.add({0}, {1})"),
    *("np.array({0})", "np.array([{0}, {1}])", "[{0}, {1}]", "np.ones(3) * {0}", "np.sum({0})"),
    *("np.clip({0}, 0, 1)", "float({0})", "round({0})", "len({0})", "list({0})", "sum({0})"),
    *("gp.centred({0}, {d})", "np.where({0}, 1, 2)", "np.float64(2) ** {0}", "np.log1p({0})"),
    *("{0}.T", "np.asarray({0})", "gp.stick_breaking({0}, {d}, into={d})"),
    *("gp.centred({0}, {d}, by={1})", "{0}({1})"),
)
DIMS = (
    *("None", "'i'", "'j'", "'k'", "('i', 'j')", "('j', 'i')", "('i', 'i')", "('k', \"k'\")"),
    *("'zz'", '"i\'"', "3", "['i']", "()", "''", "('i', None)", "{'i'}", "('i', 3)", "b'i'"),
    *("[['i']]", "'t'", "'site'", "'row'", "'time'", "'u'", "'chain'", "'draw'", "'i j'", "'\\n'"),
    *("0", "True"),
)
COORDS = (
    *("{'i': 0}", "{'i': -1}", "{'i': 2.5}", "{'i': 'abc'}", "{'i': None}", "{'i': []}", "{3: 2}"),
    *("{'i': [1, None, 3]}", "{'i': [1, 1]}", "{'i': [[1, 2]]}", "{'i': [(1, 2), (3, 4)]}", "[1]"),
    *("{'i': {'a', 'b'}}", "{'i': [1.5, float('nan')]}", "{'i': 10**12}", "{'i': 10**30}", "'ij'"),
    *("{'i': np.array(['2020-01-01'], dtype='M8[D]')}", "{'i': [object()]}", "{'i': True}", "3"),
    *("{'': 2}", '{"i\'": 2}', "{'i': [1, 'a', 2.5]}", "{'i': [b'a', b'b']}", "{None: 1}", "{}"),
    *("{'i': [[1], [2, 3]]}", "{'i': np.arange(3.0)}", "{'i': [1j, 2]}", "{'i': lambda: 1}"),
    *("{'i': [{}, []]}", "{'i': range(3)}", "{'i': (k for k in 'ab')}", "{'i': np.eye(2)}"),
    *("{'i': np.array([1, 'a'], dtype=object)}", "{'chain': 2, 'draw': 2}", "{'i': ['a', 'b\\n']}"),
    *("{'i': np.ma.masked_equal([1, 2, 3], 2)}", "{'i': np.array([1, '1', '1 '], dtype=object)}"),
    *("{'i': [{1}, {2}]}", "{'i': np.array([(1, 2), (3,), None], dtype=object)}"),
    "{'i': range(9**12)}",
    *(f"{{'i': {value}}}" for value in (*ODD, *HELD)),
)
SETTINGS = (
    *("blocks={v}", "blocks={{'a': 'elements'}}", "blocks={{('a', 'b'): 'together'}}"),
    *("blocks=False", "rewrites=False", "rewrites={v}", "rewrites={{'Polya-Gamma': True}}"),
    *("collapse=('mu',)", "collapse={v}", "collapse=('w', 'zz')", "approximate={v}", "exact=True"),
    *("interweave=False", "interweave={v}", "interweave=('s',)", "order={v}", "order=('a', 'zz')"),
    *("order=('s', 'a')", "scan='random'", "scan='symmetric'", "scan={v}", "exact={v}"),
    *("scan=gp.RandomScan({{'a': 2}})", "scan=gp.RandomScan({v})", "kernels={v}"),
    *("kernels={{'a': gp.Slice()}}", "kernels={{'a': gp.RandomWalk({v})}}", "kernels={{'a': {v}}}"),
    *("kernels={{'a': lambda rng, x, f: {v}}}", "kernels={{'mu': lambda rng, x, f: [x, {v}]}}"),
    *("kernels={{'mu': lambda rng, x, f: np.asarray(f(x))}}", "kernels={{{v}: gp.Slice()}}"),
    *("kernels={{'a': lambda *_, scale={v}: scale}}", "kernels={{'x': gp.RandomWalk(scale={v})}}"),
    *("scan=gp.RandomScan({{'zz': 1}})", "order=({v},)", "blocks={{{v}: 'alone'}}"),
    *("blocks={{('a', 'b'): {v}}}", "rewrites={{{v}: True}}", "rewrites={{'unseen': {v}}}"),
    *("kernels={{'s': gp.AdaptiveRejection()}}", "kernels={{'x': gp.OverRelaxed({v})}}", "zz={v}"),
)
RUN = (
    *("draws={v}", "warmup=-1", "warmup=2.5", "chains={v}", "seed={v}", "thin=0", "thin={v}"),
    *("init={{'b': {v}}}", "init={{'y': {v}}}", "init={{{v}: 1}}", "init=[{v}, {v}]"),
    *("chains=10**12", "init={{'w': [1.5, -0.5]}}", "init={{'w': [0.5, np.nan]}}"),
    *("init={{'L': np.ones((2, 2))}}", "init={{'L': np.eye(2) * np.nan}}", "init={{'x': {v}}}"),
    *("init={v}", "init={{'a': {v}}}", "init=[{{'a': 1}}, {{'a': {v}}}]", "init={{'zz': 1}}"),
    *("keep={v}", "keep=('a', 'zz')", "keep=()", "progress={v}", "limit_bytes=1"),
    *("limit_bytes={v}", "init={{'x': [1.0, np.nan, 2.0, 3.0]}}", "init={{'s': -1}}"),
    "init={{'z': [0, 1, 5, 0]}}",
)
AFTER = (
    *("print(str(S), repr(S), S.rewrites)", "S.source", "S.explain()", "S.explain({n})"),
    *("S.explain({v})", "S.verify()", "S.verify({v})", "print(D, D.summary())", "D.summary({v})"),
    *("D.summary(max_rows={v})", "D.summary({n})", "D[{n}]", "D[{v}]", "D.only({v})"),
    *("D.thinned({v})", "S.predict(D, {v})", "S.predict(D, {{'x': {v}}})"),
    *("S.predict(D, {{'x': [1.0, 2.0]}}, {n})", "S.predict({v}, {{}})", "S.deviance(D)"),
    *("S.deviance({v})", "S.dic(D)", "S.dic(D, seed={v})", "S.conditional_mean(D)"),
    *("S.conditional_mean(D, {v})", "S.conditional_sd(D, {n})"),
    *("S.conditional_probabilities(D, {v})", "S.conditional_probabilities(D)", "D.to_datatree()"),
    *("D.save('d.nc'); print(gp.load_draws('d.nc'))", "D.save({v})", "D.save('no/d.nc')"),
    *("D.save('.')", "D.save_coda('c')", "D.save_coda({v})", "gp.load_draws({v})"),
    *("print(gp.write_bugs(M))", "gp.read_bugs(str(gp.write_bugs(M)))", "gp.simulate(M, seed={v})"),
    *("gp.simulate(M, seed=1, draws={v})", "gp.simulate({v}, seed=1)", "gp.compile({v})"),
    *("gp.write_bugs({v})", "S.check_kernel({n}, replicates=5, sweeps=1)", "S.initial_states({v})"),
    *("S.check_kernel({v}, replicates=5)", "S.check_kernel('a', replicates={v})"),
    *("gp.read_inits({v}, M)", "S.compare({v})", "S.compare(draws=4, warmup=1, of={v})"),
    *("S.initial_states(1, init={v})", "gp.simulate(M, seed=2, draws=2)", "gp.read_bugs({v})"),
    *("S.predict(D, {{'j': {v}}})", "S.predict(D, {{'x': {v}, 'g': {v}}})"),
    *("S.predict(D, {{'g': [0, 1]}})", "S.predict(D.only({n}), {{'x': [1.0, 2.0, 3.0]}})"),
    *("S.deviance(D.thinned(2)).summary()", "S.conditional_mean(D.only({n})).summary()"),
    *("gp.Draws({{'x': {v}}})", "gp.Draws({{'x': np.zeros((1, 2, 3))}}, {{'x': {v}}})"),
    *("gp.Draws({{'x': np.zeros((1, 2))}}, attributes={{'thin': {v}}}).save_coda('c')",),
    *("S.sample(2, warmup=1, chains=1, seed={v})", "S.verify(seed={v})", "S.compare({{{n}: {v}}})"),
    *("S.compare({{'a': {{'order': {v}}}}}, draws=4, warmup=1)", "D.stacked({v})", "{v} in D"),
    *("S.check_kernel({n}, functions={v}, replicates=5)", "S.check_kernel({n}, level={v})"),
    *("D.save('d.nc'); S.predict(gp.load_draws('d.nc'), {{}})", "S.predict(D, {{'k': 0}})"),
    *("gp.read_bugs('model {{}}', {v})", "D.to_arviz()", "D.stacked({n})"),
    "S.sample(2, warmup=1, chains=2, seed=1, progress=False)",
)
COMPILED = 0.3  # the share of the scripts that go on after the declarations


def a_dim(rng):
    return rng.choice(DIMS)


def an_expression(rng, names, depth=0):
    """An expression of variables, numbers and odd values."""
    draw = rng.random()
    if draw < 0.35 and names:
        return rng.choice(names)
    if draw < 0.5:
        return rng.choice(NUMBERS)
    if draw < 0.65 or depth > 2:
        return a_value(rng)
    parts = [an_expression(rng, names, depth + 1) for _ in range(2)]
    parts = [p if p.isidentifier() else f"({p})" for p in parts]
    steps = rng.choice((*NUMBERS[:5], a_value(rng)))
    return rng.choice(EXPRESSIONS).format(*parts, d=a_dim(rng), n=steps)


def a_declaration(rng, names, number):
    """A random call of a constructor."""

    def x():
        return an_expression(rng, names)

    name, dims = a_name(rng), a_dim(rng)
    target = f"v{number}"
    kind = rng.randrange(12)
    if kind == 0:
        return f"{target} = gp.Data({name}, {x()}, dims={dims})"
    if kind == 1:
        return f"{target} = gp.Index({name}, {x()}, of={a_dim(rng)}, dims={dims})"
    if kind == 2:
        which = rng.choice(("{}, of={}", "of={1}, pairs={0}", "of={1}, matrix={0}"))
        return f"{target} = gp.Neighbours({name}, {which.format(x(), a_dim(rng))})"
    if kind == 3:
        key = rng.choice(("0", "1:", ":", "-1", "...", x(), "0, 0", "None", "::2", "5:", "1:0"))
        inner = a_distribution(rng, names)
        return f"{target} = gp.Array({name}, dims={dims}); {target}[{key}] = {inner}"
    if kind == 4:
        return f"{target} = gp.Deterministic({name}, {x()})"
    if kind == 5:
        return f"gp.{rng.choice(('Potential', 'Constraint'))}({name}, {x()})"
    if kind == 6:
        known = rng.choice((f"event={x()}, ", "")) + rng.choice(("", f"lower={x()}, "))
        inner = a_distribution(rng, names)
        return f"{target} = gp.Censored({name}, {inner}, {known}dims={dims}, observed={x()})"
    return f"{target} = {a_distribution(rng, names, name)}"


def a_distribution(rng, names, name=None):
    """A call of a family, most often with the names of its parameters right."""
    family = rng.choice(tuple(FAMILIES))
    row = FAMILIES[family]
    spelled = rng.choice(tuple(row.spellings) or (tuple(row.parameters),))
    given = [f"{p}={an_expression(rng, names)}" for p in spelled if rng.random() < 0.95]
    if name is not None:
        given.insert(0, name)
        given += [f"dims={a_dim(rng)}"] * (rng.random() < 0.6)
        given += [f"event={a_dim(rng)}"] * (rng.random() < (0.4 if row.event else 0.05))
        given += [f"observed={an_expression(rng, names)}"] * (rng.random() < 0.4)
        given += [f"missing={an_expression(rng, names)}"] * (rng.random() < 0.05)
    given += [f"lower={an_expression(rng, names)}"] * (rng.random() < 0.1)
    given += [f"upper={an_expression(rng, names)}"] * (rng.random() < 0.1)
    return f"gp.{family}({', '.join(given)})"


def replaced(rng, line, names):
    """A line with one of its expressions replaced."""
    try:
        tree = ast.parse(line)
    except (SyntaxError, ValueError):
        return line
    places = [
        n for n in ast.walk(tree)
        if isinstance(n, ast.expr) and isinstance(getattr(n, "ctx", ast.Load()), ast.Load)
        and not (isinstance(n, ast.Name) and n.id in ("gp", "np"))
        and n.lineno == n.end_lineno == 1
    ]  # fmt: skip
    if not places:
        return line
    node = rng.choice(places)
    source = line.encode()
    old = source[node.col_offset : node.end_col_offset].decode()
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    if is_text and rng.random() < 0.8:
        new = rng.choice((a_name(rng), a_dim(rng)))
    else:
        new = rng.choice((an_expression(rng, names), a_value(rng), f"[{old}]", f"-({old})"))
    put = f"({new})" if isinstance(node, ast.Name) else new
    return (
        source[: node.col_offset]
        + put.encode("utf-8", "surrogatepass")
        + source[node.end_col_offset :]
    ).decode("utf-8", "surrogatepass")


def script(rng):
    head, *body = rng.choice(PROGRAMS).splitlines()
    names = [line.split(" = ")[0] for line in body if " = " in line.split("(")[0]]
    names = [n for n in names if n.isidentifier()]
    if rng.random() < 0.1:
        odd = (f"coords={rng.choice(COORDS)}", f"name={a_name(rng)}")
        head = f"gp.Model({rng.choice(odd)})"
    is_odd = rng.random() < 0.85
    for _ in range(rng.randint(1, 3) * is_odd):
        at = rng.randrange(len(body))
        match rng.randrange(6):
            case 0:
                body[at:at] = [body[at]]
            case 1:
                other = rng.randrange(len(body))
                body[at], body[other] = body[other], body[at]
            case _:
                body[at] = replaced(rng, body[at], names)
    for number in range(rng.randint(0, 3)):
        body.append(a_declaration(rng, [*names, *(f"v{k}" for k in range(number))], number))
    lines = [f"M = {head}", *(f"with M: {line}" for line in body), "print(M, M.graph)"]
    return lines + after(rng) if rng.random() < COMPILED else lines


def after(rng):
    """What is done with a model: most often what is asked for makes sense, but for one thing."""

    def fill(text):
        name = rng.choice(("'a'", "'mu'", "'y'", a_name(rng)))
        return text.format(v=a_value(rng), n=name)

    odd = rng.random()
    settings = fill(rng.choice(SETTINGS)) if odd < 0.4 else ""
    run = fill(rng.choice(RUN)) if 0.3 < odd < 0.7 else ""
    asked = {"draws": "3", "warmup": "2", "chains": "2", "seed": "1", "progress": "False"}
    given = [f"{k}={v}" for k, v in asked.items() if not run.startswith(k)] + [run] * bool(run)
    return [
        f"S = gp.compile(M, {settings})",
        f"D = S.sample({', '.join(given)})",
        *(fill(rng.choice(AFTER)) for _ in range(rng.randint(1, 4))),
    ]
