"""Files of data, of initial values and of draws that are damaged, or say odd things."""

import json

from bugs_texts import DATA

from fuzz.words import CODE, NAMES

PROGRAM = (
    "model { for (i in 1:N) { y[i] ~ dnorm(mu, tau) }\n"
    "mu ~ dnorm(0, 0.01)\ntau ~ dgamma(1, 1)\nz ~ dcat(p[]) }"
)
KNOWN = {"N": 2, "y": [1.5, 2.0], "p": [0.5, 0.5]}
TEXTS = (
    *DATA,
    json.dumps(KNOWN),
    '{"mu": 1.5, "tau": 2, "z": 1}',
    "mu <- 1.5\ntau <- 2\nz <- 1L\n",
    "list(mu = 1, tau = 0.5, z = 2)",
    "N <- 2\ny <- c(1.5, 2)\np <- c(0.5, 0.5)\n",
    "y[]\n1.5\n2\nEND\nlist(N = 2, p = c(0.5, 0.5))\n",
    '"m" <- structure(list(), .Names = character(0))',
)
WORDS = (
    *("NA", "NaN", "Inf", "-Inf", "null", "true", "NULL", "T", "TRUE", "1e999", "1e-999", "-0"),
    *("0x1F", "1L", "1e5L", "1i", '"a"', "'a'", "c(", "list(", "structure(", ")", "[", "]", "{"),
    *("}", ",", ":", "Infinity", "NaN", "END", "<-", "=", "1:3", "3:1", "1:1e9", "1:99999999999"),
    *(".Dim = c(2, 2)", ".Dim = c(-1, 2)", ".Dim = c(0)", ".Dim = c(1e9, 1e9)", ".Data = c()", "#"),
    *("\\", "\x00", "\ufeff", "9" * 400, "1." + "0" * 400, "1e" + "9" * 30, "--1", "1_000", "١٢"),
    *("½", "é", "[[" * 600, "(" * 3000, '{"a":' * 500, "c(" * 800, "\u2028", "`y`", "`a b`"),
    *("factor(1)", "as.integer(2)", "c()", "[]", "{}"),
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp037")

# What is put into a file of draws, by h5py: `f` is the file.
DRAWS = (
    "D = gp.compile(m).sample(3, warmup=1, chains=2, seed=1, progress=False)",
    "D.save('d.nc')",
)
MODEL = (
    "m = gp.Model(coords={'i': ['a', 'b'], 'j': 2}, name='saved')",
    "with m: mu = gp.Normal('mu', 0, sigma=1, dims='i')",
    "with m: y = gp.Normal('y', mu, sigma=1, dims=('j', 'i'), observed=[[1.0, 2.0], [0.5, 1.5]])",
)
CHANGES = (
    *("del f['posterior']", "del f['posterior/mu']", "del f['posterior/mu'].attrs['name']"),
    *("f['posterior/mu'].attrs['name'] = {v}", "f.attrs[{t}] = {v}"),
    *("f.attrs['inference_library'] = {v}", "del f.attrs['inference_library']"),
    *("f.attrs['thin'] = {v}", "f.attrs['warmup'] = {v}", "f['posterior'].attrs[{t}] = {v}"),
    *("f['posterior'].create_dataset({t}, data={v})", "f.create_group({t})"),
    *("f.create_dataset({t}, data={v})", "f['posterior'].create_group('g')"),
    *("f['posterior/mu'][...] = np.nan", "f['posterior/mu'][0] = np.inf", "del f['posterior/i']"),
    *("del f['posterior/chain']", "del f['posterior/draw']", "f['observed_data/y'][...] = np.nan"),
    *("del f['observed_data/y'].attrs['DIMENSION_LIST']", "del f['observed_data']", "f.clear()"),
    *("del f['posterior/mu'].attrs['DIMENSION_LIST']", "f.move('posterior', {t})"),
    *("f.move('posterior/mu', 'posterior/nu')", "f['posterior/i'][0] = b'\\xff\\xfe'"),
    *("f.move('observed_data', 'sample_stats')", "f.copy('posterior', 'sample_stats')"),
    *("f.copy('posterior', 'constant_data')", "f.copy('observed_data/y', 'posterior/y')"),
    *("f['link'] = __import__('h5py').SoftLink('/no')", "f['posterior/mu2'] = f['posterior/mu']"),
    "f['posterior/x'] = __import__('h5py').ExternalLink('no.nc', '/')",
    "f['posterior'].attrs.clear()",
    *("f.attrs['seed'] = {v}", "f.attrs['interrupted'] = {v}", "f.attrs['started_by_rule'] = {v}"),
    *("del f['posterior/i']; f['posterior/i'] = {v}", "f['posterior'].move('i', 'k')"),
    *("del f['posterior/mu']; f['posterior/mu'] = {v}", "f['posterior/chain'][...] = 7"),
    *("f['posterior/mu'].attrs['_FillValue'] = {v}", "f['posterior/i'].attrs['units'] = {t}"),
    "f['posterior/mu'].attrs['scale_factor'] = {v}",
    "f['posterior/draw'].attrs['units'] = 'days since 2000'",
    *("f['posterior/mu'].attrs['coordinates'] = {t}", "f['posterior/mu'].attrs['dtype'] = {t}"),
)
HELD = (
    *("1", "-1", "0", "'x'", "b'x'", "'gibbsppl'", "np.array([1, 2])", "np.array([])", "2.5"),
    *("np.nan", "np.zeros((2, 3))", "np.zeros((2, 3, 2))", "np.array('x', dtype='S1')"),
    *("np.zeros(2, dtype=[('a', int)])", "True", "np.zeros((0, 3))", "np.int64(2**62)", "1j"),
    "np.array([1, 2], dtype='>i2')",
)
NOT_DRAWS = (
    *("b''", "b'CDF\\x01'", "b'CDF\\x02\\x00\\x00'", "b'\\x89HDF\\r\\n\\x1a\\n'", "b'\\x89HDF'"),
    *("b'x' * 5000", "b'\\x00' * 4096", "open('d.nc', 'rb').read()[:{n}]"),
    *("open('d.nc', 'rb').read()[{n}:]", "open('d.nc', 'rb').read() * 2"),
    "b'\\x89HDF\\r\\n\\x1a\\n' + b'\\x00' * {n}",
)
USES = (
    *("print(L, L.summary())", "L.save('e.nc')", "L.to_datatree()", "L.save_coda('c')"),
    *("L.thinned(1)", "L.thinned(2).summary('mu')", "L.stacked('mu').mean()", "L.to_arviz()"),
    *("gp.compile(m).deviance(L).summary()", "gp.compile(m).dic(L)", "L.only('mu')"),
    *("gp.compile(m).predict(L, {'j': 3})", "gp.compile(m).conditional_mean(L).summary()"),
)


def script(rng):
    return draws_file(rng) if rng.random() < 0.2 else text_file(rng)


def text_file(rng):
    """A file of data read as data and as initial values."""
    name = rng.choice(("d.json", "d.R", "d.txt", "d"))
    lines = ["from pathlib import Path", f"write({name!r}, {damaged(rng)!r})"]
    if rng.random() < 0.04:
        name = rng.choice((".", "no", "no/d.txt", "/dev/null", "\x00", "a" * 300, ""))
    uses = [
        f"data = gp.read_bugs({PROGRAM!r}, Path({name!r}))",
        f"m = gp.read_bugs({PROGRAM!r}, {KNOWN!r}); I = gp.read_inits(Path({name!r}), m)",
        "gp.compile(m).initial_states(1, seed=1, init=I)",
        f"P = gp.read_bugs(Path({name!r}), {KNOWN!r})",
    ]
    return [*lines, *(u for u in uses if rng.random() < 0.6 or u.startswith("m ="))]


def damaged(rng):
    """The bytes of a text that is damaged once or more."""
    text = rng.choice(TEXTS)
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((0, 0, 1, 2, 8)))
        put = rng.choice(("", rng.choice(WORDS), rng.choice((*NAMES, *CODE)), text[at:to] * 2))
        text = text[:at] + put + text[to:]
    if rng.random() < 0.2:
        text = text[: rng.randrange(len(text) + 1)]
    content = text.encode(rng.choice(ENCODINGS) if rng.random() < 0.2 else "utf-8", "replace")
    if rng.random() < 0.15:
        at = rng.randrange(len(content) + 1)
        content = content[:at] + rng.randbytes(rng.choice((1, 4, 400))) + content[at + 1 :]
    return content


def draws_file(rng):
    """A file of draws that is changed, cut or no file of draws at all."""
    if rng.random() < 0.3:
        content = rng.choice(NOT_DRAWS).format(n=rng.choice((1, 8, 100, 1000, 5000, 20000)))
        damage = [f"write('d.nc', {content})"]
    else:
        damage = ["import h5py; f = h5py.File('d.nc', 'a')"]
        for _ in range(rng.randint(1, 2)):
            text = rng.choice((*NAMES, *CODE, "posterior", "sample_stats", "coords", "i", "name"))
            damage.append(rng.choice(CHANGES).format(v=rng.choice(HELD), t=repr(text)))
        damage.append("f.close()")
    others = ("'.'", "'no'", "''", "None", "3", "b'd.nc'") if rng.random() < 0.1 else ()
    path = rng.choice(("'d.nc'", *others))
    return [*MODEL, *DRAWS, *damage, f"L = gp.load_draws({path})", *rng.sample(USES, 2)]
