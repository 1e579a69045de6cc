"""Code in the place of names, labels and texts: it may be refused or shown, but not run."""

import re

from fuzz.words import CODE

# Models with places for names; the second one has what is refused least.
MODELS = (
    (
        "m = gp.Model(coords={{{i}: [{l}, {l} + 'b', 'c']}}, name={m})",
        "with m: a = gp.Normal({a}, 0, sigma=10, dims={i})",
        "with m: x = gp.Data({x}, [1.0, 2.0, 4.0], dims={i})",
        "with m: s = gp.HalfNormal({s}, sigma=2)",
        "with m: y = gp.Normal({y}, a * x, sigma=s, dims={i}, observed=[1.0, 2.0, 2.5])",
        "with m: gp.Deterministic({d}, gp.exp(s))",
    ),
    (
        "m = gp.Model(coords={{{i}: 3, 'k': [{l}, 'b']}}, name={m})",
        "with m: w = gp.Dirichlet({a}, 1, dims='k', event='k')",
        "with m: z = gp.Categorical({s}, w, dims={i}, event='k')",
        "with m: mu = gp.Normal({d}, 0, sigma=1, dims='k')",
        "with m: y = gp.Normal({y}, mu[z], sigma=1, dims={i}, observed=[1.0, 2.0, 2.5])",
        "with m: gp.Potential({x}, -mu * mu)",
    ),
    (
        "m = gp.Model(coords={{{i}: 3, 'k': 2}}, name={m})",
        "with m: g = gp.Index({x}, [0, 1, 1], of='k', dims={i})",
        "with m: t = gp.Normal({a}, 0, sigma=1, dims='k')",
        "with m: v = gp.Gamma({s}, 1, rate=1)",
        "with m: f = gp.StudentT({d}, 4, mu=t, tau=v, dims='k')",
        "o = np.ma.masked_equal([1, 2, 9], 9)",
        "with m: y = gp.Poisson({y}, gp.exp(f[g]), dims={i}, observed=o)",
    ),
)
PLAIN = {"i": "i", "l": "a", "m": "m", "a": "a", "x": "x", "s": "s", "y": "y", "d": "d"}
AFTER = (
    "print(m, m.graph, S, S.source)",
    "S.explain()",
    "D = S.sample(2, warmup=1, chains=1, seed=1, progress=False); print(D, D.summary())",
    "D.save('d.nc'); print(gp.load_draws('d.nc').summary())",
    "D.save_coda('c')",
    "print(gp.write_bugs(m))",
    "gp.read_bugs(str(gp.write_bugs(m)), gp.write_bugs(m).data)",
    "S.verify()",
    "S.predict(D, {})",
    "S.conditional_mean(D); S.deviance(D)",
)
PROGRAM = "model { for (i in 1:3) { y[i] ~ dnorm(mu, 1) }\nmu ~ dnorm(0, 1)\n b <- 2 * mu }"


def script(rng):
    return of_a_file(rng) if rng.random() < 0.25 else of_a_model(rng)


def of_a_model(rng):
    odd = rng.sample(sorted(PLAIN), rng.choice((1, 1, 2)))
    names = {**PLAIN, **{place: code(rng) for place in odd}}
    lines = rng.choice(MODELS)
    plain = [line.format(**{k: repr(v) for k, v in PLAIN.items()}) for line in lines]
    same = [re.sub(r"^(with )?m\b", r"\1p", line) for line in plain]
    made = [line.format(**{k: repr(v) for k, v in names.items()}) for line in lines]
    shown = rng.sample(AFTER[:-2], 2) + rng.sample(AFTER, 1)
    code_of = ["S = gp.compile(m)", "P = gp.compile(p)"]
    return [*same, *made, *code_of, "same_code(S, P)", *shown]


def of_a_file(rng):
    """A program, a model's file or a file of data with code in its name or in its names."""
    file = code(rng).replace("/", "_").replace("\x00", "_").replace("\ud800", "_")[:60]
    text = code(rng)
    uses = (
        f"command('run', {file + '.bug'!r}, '--draws', '2', '--warmup', '1', '--out', 'o.nc')",
        f"command('source', {file + '.bug'!r})",
        f"command('explain', {file + '.bug'!r}, {text!r})",
        f"command('run', {file + '.bug'!r}, '--monitor', {text!r}, '--draws', '2')",
        f"command('run', {file + '.bug'!r}, '--order', {text!r}, '--draws', '2')",
        f"command('source', {file + '.bug'!r}, '--kernel', {text + '=slice'!r})",
        f"S = gp.compile(gp.read_bugs({PROGRAM!r}, name={text!r})); print(S.source, S.explain())",
        f"gp.read_bugs({PROGRAM!r}, {{{text!r}: 1}})",
        f"gp.read_bugs({PROGRAM!r}, monitor=({text!r},))",
        f"gp.read_bugs({PROGRAM!r}, {text!r})",
        f"gp.read_bugs({text!r})",
        f"gp.read_bugs({PROGRAM.replace('mu', text)!r})",
        f"gp.read_inits({text!r}, gp.read_bugs({PROGRAM!r}))",
        f"gp.compile(gp.read_bugs({PROGRAM!r}), kernels={{{text!r}: gp.Slice()}})",
        f"S = gp.compile(gp.read_bugs({PROGRAM!r})); S.sample(2, init={{{text!r}: 1}})",
        f"gp.compile(gp.read_bugs({PROGRAM!r}), blocks={{{text!r}: 'elements'}})",
        f"gp.compile(gp.read_bugs({PROGRAM!r}), rewrites={{{text!r}: True}})",
    )
    return [f"write({file + '.bug'!r}, {PROGRAM!r})", *rng.sample(uses, 3)]


def code(rng):
    return rng.choice(CODE)
