"""Arguments of the command line: of all commands, repeated, missing, of the wrong type."""

from fuzz.words import CODE, NAMES

LINE = (
    "model { for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau) }\n"
    "a ~ dnorm(0, 0.01)\nb ~ dnorm(0, 0.01)\ntau ~ dgamma(1, 1)\ns <- 1 / sqrt(tau) }"
)
PYTHON = """\
import gibbsppl as gp

def model():
    with gp.Model() as m:
        a = gp.Normal("a", 0, sigma=1)
        gp.Normal("y", a, sigma=1, observed=1.5)
    return m
"""
FILES = {
    "line.bug": LINE,
    "line.json": '{"N": 3, "x": [1, 2, 3], "y": [1.5, 2, null]}',
    "line.R": "N <- 3\nx <- c(1, 2, 3)\ny <- c(1.5, 2, NA)\n",
    "n.txt": "list(N = 3)",
    "inits.json": '{"a": 1, "b": 0.5, "tau": 1}',
    "bad.json": '{"a": [1, 2], "zz": 3}',
    "a.py": PYTHON,
    "none.py": "x = 1\n",
    "returns.py": "def model():\n    return 3\n",
    "asks.py": "def model(x):\n    return x\n",
    "empty.bug": "",
    "empty.py": "",
    "broken.bug": "model { y ~ dnorm(",
    "binary.bug": "\x00\x01\x02",
    "a b.bug": "model { a ~ dnorm(0, 1) }",
    "quote'\".bug": "model { a ~ dnorm(0, 1) }",
    'x");gibbsppl_canary()#.bug': "model { a ~ dnorm(0, 1) }",
    '"""\ngibbsppl_canary()\n""".bug': "model { a ~ dnorm(0, 1)\n b <- 2 * a }",
    "folder/x": "",
    ".bug": "model { a ~ dnorm(0, 1) }",
    "{0}.py": PYTHON,
}
MODELS = (
    *("line.bug", "line.bug", "line.bug", "a.py", "a.py", *FILES, ".", "folder", "no.bug", "no.py"),
    *("", "-"),
)
PATHS = (
    *("out.nc", "out.txt", "folder", "no/out.nc", "", ".", "/dev/full", "/dev/null", "line.bug"),
    *("a.py", "\x00", "a" * 300, "line.bug/x", "/proc/none", "out put.nc", "x'\".nc", "/"),
)
DATA = (
    *("line.json", "line.R", "n.txt", "inits.json", "bad.json", "no.json", "folder", ""),
    *("line.bug", "a.py", "/dev/null"),
)
COUNTS = (
    *("0", "1", "2", "3", "-1", "2.5", "1e3", "", "x", "٣", "²", "9" * 20, "9" * 5000, " 2", "+2"),
    *("0x2", "None", "2_0"),
)
WORDS = (
    *("a", "b", "tau", "y", "s", "a,b", "zz", "deviance", "pD", "deviance,pD", "a,,b", ",", ""),
    *("a[1]", "deviance,zz"),
)
KERNELS = (
    *("a=slice", "a=random-walk", "tau=adaptive-rejection", "a=over-relaxed", "b=slice"),
    *("zz=slice", "a", "=slice", "a=", "a=x", "y=slice", "a=slice=slice", "tau=over-relaxed"),
    "s=slice",
)
OPTIONS = {
    "--data": DATA, "--order": WORDS, "--scan": ("systematic", "random", "symmetric", "x", ""),
    "--kernel": KERNELS, "--draws": COUNTS, "--warmup": COUNTS[:11], "--chains": COUNTS,
    "--thin": COUNTS[:11], "--inits": ("inits.json", *DATA), "--monitor": WORDS, "--coda": PATHS,
    "--start": ("pilot", "prior", "optimum", "variational", "x"),
    "--seed": COUNTS, "--out": PATHS, "--quiet": None, "--help": None, "--version": None,
    "--zz": WORDS, "-h": None, "--dra": COUNTS[:5], "--": None, "--quiet=1": None,
}  # fmt: skip
OF_RUN = (
    *("--draws", "--warmup", "--chains", "--thin", "--inits", "--monitor", "--coda", "--seed"),
    *("--start", "--out", "--quiet"),
)
OF_ALL = ("--data", "--order", "--scan", "--kernel")
COMMANDS = {
    "run": (*OF_RUN, *OF_ALL),
    "explain": OF_ALL,
    "source": (*OF_ALL, "--out"),
    "check": (*OF_ALL, "--seed"),
}


def script(rng):
    name = rng.choice(tuple(COMMANDS))
    file = rng.choice(MODELS)
    line = [name, file]
    needs = file == "line.bug" and rng.random() < 0.9
    line += ["--data", rng.choice(("line.json", "line.R"))] * needs
    options = [*COMMANDS[name]] if rng.random() < 0.9 else [*OPTIONS]
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 5))):
        option = rng.choice(options)
        values = OPTIONS[option]
        line.append(option)
        if values is not None and rng.random() < 0.95:
            line.append(rng.choice(values) if rng.random() < 0.95 else rng.choice((*NAMES, *CODE)))
    if name == "explain" and rng.random() < 0.6:
        line.insert(rng.choice((2, len(line))), rng.choice((*WORDS, *NAMES)))
    if name == "run":  # few sweeps, unless others are asked for
        small = {"--draws": "3", "--warmup": "2", "--chains": "2"}
        line += [w for o, n in small.items() if o not in line for w in (o, n)]
    if rng.random() < 0.06:
        line.pop(rng.randrange(len(line)))
    if rng.random() < 0.04:
        rng.shuffle(line)
    used = [n for n in FILES if n in line] + ["folder/x"]
    return [
        "import os; os.mkdir('folder')",
        *(f"write({n!r}, {FILES[n]!r})" for n in dict.fromkeys(used)),
        f"command({', '.join(map(repr, line))})",
    ]
