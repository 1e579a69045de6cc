"""Programs of BUGS and data: tokens, lines and values are taken out, doubled or replaced."""

import json
import re
from functools import cache
from pathlib import Path

from bugs_texts import PROGRAMS

from fuzz.words import NAMES
from gibbsppl.bugs.distributions import DISTRIBUTIONS
from gibbsppl.bugs.functions import FUNCTIONS

FOLDER = Path(__file__).parents[2] / "models" / "bugs"
TOKEN = re.compile(
    r"[A-Za-z][\w.]*|\d+\.?\d*(?:[eE][+-]?\d+)?|<-|[<>=!]=|&&|\|\||\s+|#[^\n]*|.", re.DOTALL
)

OPERAND = re.compile(
    r"\b(?!(?:for|in|model|data|var)\b)[A-Za-z][\w.]*(?:\[[^\[\]{}~\n]*\])?(?![\w.(])"
    r"|\b\d+\.?\d*(?:[eE][+-]?\d+)?"
)
WRITTEN = (
    *("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "({0})^{1}", "-{0}", "exp({0})"),
    *("log({0})", "step({0})", "sum({0})", "mean({0})", "max({0}, {1})", "inprod({0}, {1})"),
    *("{0}[{1}]", "{0}[]", "{0}[1:{1}]", "{0}[{1}, ]", "{0}[{1} + 1]", "t({0})", "inverse({0})"),
    *("{0} %*% {1}", "sort({0})", "rank({0})", "ranked({0}, {1})", "phi({0})", "ilogit({0})"),
    *("equals({0}, {1})", "{0} == {1}", "ifelse({0}, {1}, 1)", "round({0})", "trunc({0})"),
    *("loggam({0})", "pow({0}, {1})", "sqrt({0})", "logdet({0})", "sd({0})", "prod({0})"),
    *("c({0}, {1})", "{0}:{1}", "length({0})", "dim({0})", "cut({0})"),
)
LINES = (
    *("{0} ~ {2}(0, 1)\n", "{0} ~ {2}({1})\n", "{0} <- {1}\n", "{0}[1:3] <- {1}[]\n", "{0} <- 1\n"),
    *("for (i in 1:2) {{ {0}[i] <- {1}[i] }}\n", "for (i in 2:3) {{ {0}[i] ~ {2}(0, 1) }}\n"),
    *("logit({0}) <- {1}\n", "{0} <- {0} + 1\n", "{0}[1] ~ dnorm({1}[2], 1)\n"),
    "var {0}[2], {1};\n",
    "for (i in 1:{0}) {{ for (j in i:{0}) {{ {1}[i, j] ~ dnorm(0, 1) }} }}\n",
    "{0} ~ {2}({1}, {1}, {1})\n",
    "for (i in 1:3) {{ for (j in 1:2) {{ q[i, j] ~ {2}({0}, {1}) }} }}\n",
    "data {{ {0} <- {1} }}\n",
)

SMALL = (
    (
        """\
model {
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau) }
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
  tau ~ dgamma(1, 1)
  s <- 1 / sqrt(tau)
}
""",
        {"N": 3, "x": [1, 2, 4], "y": [1.5, None, 3]},
    ),
    (
        """\
model {
  for (i in 1:N) {
    z[i] ~ dcat(p[1:K])
    y[i] ~ dnorm(mu[z[i]], 1)
  }
  for (k in 1:K) {
    mu[k] ~ dnorm(0, 0.1) T(,5)
    one[k] <- 1
  }
  p[1:K] ~ ddirch(one[])
}
""",
        {"N": 3, "K": 2, "y": [1.5, 2, 3]},
    ),
    (
        """\
model {
  x[1] ~ dnorm(0, 1)
  for (t in 2:T) {
    x[t] ~ dnorm(x[t-1], 1)
    y[t] ~ dpois(exp(x[t]))
  }
  total <- sum(x[1:T]) + mean(x[]) + max(x[2:3])
}
""",
        {"T": 4, "y": [None, 1, 2, 0]},
    ),
    (
        """\
model {
  for (i in 1:2) {
    y[i, 1:2] ~ dmnorm(m[], L[,])
    r[i] ~ dbin(q[i], n[i])
    logit(q[i]) <- inprod(m[], y[i,])
  }
  L[1:2, 1:2] ~ dwish(R[,], 3)
  for (k in 1:2) { m[k] ~ dt(0, 1, 4) I(-9, 9) }
}
""",
        {"y": [[1, 2], [3, 4]], "R": [[1, 0], [0, 1]], "n": [5, 6], "r": [2, None]},
    ),
)
NUMBERS = (
    *("0", "1", "2", "-1", "1e300", "1e-300", "1e308", "0.5", "99999999999999999999", "1e3", "3.7"),
)
NOT_NAMES = (
    *("__class__", "'x'", '"x"', "class", "None", "NaN", "Inf", "NA", "TRUE", "if", "model"),
    "data",
)
SIGNS = (
    *("+", "-", "*", "/", "^", "<", ">", "<=", "==", "!=", "&&", "||", "%*%", ":", "~", "<-", ","),
    *(";", "(", ")", "[", "]", "{", "}", "="),
)
DEEP = ("(", "exp(", "-", "x[", "{", "!", "max(1,", "for (i in 1:2) {")
VALUES = (
    *(None, 0, -1, 1e308, 10**18, 2**70, True, "x", [], [[]], [1], [1, 2], [[1, 2], [3]]),
    *([None, None], {"a": 1}, [0, 0, 0], [[1, 2], [3, 4]], [[[1]]], [1.5, None, -2]),
    *([10**18, 1, 2], 0.5, [["a"]]),
)


@cache
def corpus():
    """Texts and data: of the volumes' examples, small ones, and those that only parse."""
    found = list(SMALL)
    for folder in (FOLDER, FOLDER / "more"):
        for path in sorted(folder.glob("*.bug")):
            stem = path.stem.split("-")[0]
            for data in sorted(folder.glob(f"{stem.rstrip('12')}*.data.json"))[:1]:
                text = path.read_text(encoding="utf-8")
                found.append((text, json.loads(data.read_text(encoding="utf-8"))))
    return (*found, *((text, {}) for text in PROGRAMS))


def mutated(rng, text):
    """A text that is changed in one place: most often so that it is still a program."""
    return rng.choice((of_tokens, of_operands, of_operands, of_operands, of_lines))(rng, text)


def of_operands(rng, text):
    """A text of which one number, variable, element or range is another that stands in it."""
    found = list(OPERAND.finditer(text))
    if not found:
        return text
    at = rng.choice(found)
    others = [m.group() for m in found]
    new = rng.choice(
        (
            rng.choice(others),
            rng.choice(others),
            rng.choice(NUMBERS),
            rng.choice(WRITTEN).format(at.group(), rng.choice(others)),
        )
    )
    return text[: at.start()] + new + text[at.end() :]


def of_lines(rng, text):
    """A text of which one line is left out, doubled, or stands in another place."""
    lines = text.splitlines(keepends=True)
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            names = sorted(set(re.findall(r"[a-zA-Z][\w.]*", text)))
            words = (*rng.choices(names, k=2), rng.choice(tuple(DISTRIBUTIONS)))
            lines.insert(at, rng.choice(LINES).format(*words))
    return "".join(lines)


def of_tokens(rng, text):
    """A text with one token, or a few, changed."""
    tokens = TOKEN.findall(text)
    words = [k for k, t in enumerate(tokens) if not t.isspace() and t[0] != "#"]
    if not words:
        return text
    at, other = rng.choice(words), rng.choice(words)
    match rng.randrange(10):
        case 0:
            tokens[at] = ""
        case 1:
            tokens[at] *= 2
        case 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3:
            first, last = sorted((at, min(other, at + 20)))
            tokens[first:last] = tokens[first:last] * rng.choice((0, 2))
        case 4:
            tokens[at] = rng.choice(DEEP) * rng.choice((3, 40, 1000)) + tokens[at]
        case _:
            tokens[at] = alike(rng, tokens[at], tokens)
    return "".join(tokens)


def alike(rng, token, tokens):
    """A token of the same class as another, most often."""
    if rng.random() < 0.1:
        return rng.choice((*NUMBERS, *NOT_NAMES, *SIGNS, *NAMES[:30]))
    if token[0].isdigit():
        return rng.choice(NUMBERS)
    if token in DISTRIBUTIONS or (token[0] == "d" and len(token) > 3):
        return rng.choice(tuple(DISTRIBUTIONS))
    if token in FUNCTIONS:
        return rng.choice(tuple(FUNCTIONS))
    if token[0].isalpha():
        names = sorted({t for t in tokens if t[0].isalpha()})
        others = (*NUMBERS[:5], *NOT_NAMES) if rng.random() < 0.3 else ()
        return rng.choice((*names, *others))
    return rng.choice(SIGNS)


def changed(rng, data):
    """Data of which one entry is left out, renamed, or has other values."""
    data = dict(data)
    if not data:
        return data
    name = rng.choice(sorted(data))
    match rng.randrange(6):
        case 0:
            del data[name]
        case 1:
            data[rng.choice((*sorted(data), *NAMES, "T", "C", "pi"))] = data.pop(name)
        case 2 | 3:
            data[name] = rng.choice(VALUES)
        case 4:
            data[name] = elsewhere(rng, data[name])
        case _:
            other = data[rng.choice(sorted(data))]
            data[name] = rng.choice(([data[name], data[name]], other))
    return data


def elsewhere(rng, values):
    """Values of which one is another, or is left out."""
    if not isinstance(values, list) or not values:
        return rng.choice(VALUES)
    at = rng.randrange(len(values))
    new = rng.choice(([], [rng.choice(VALUES)], [elsewhere(rng, values[at])], [values[at]] * 2))
    return [*values[:at], *new, *values[at + 1 :]]


def script(rng):
    cases = corpus()
    text, data = rng.choice(cases if rng.random() < 0.5 else cases[: len(SMALL)])
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2))):
        text = mutated(rng, text)
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        data = changed(rng, data)
    lines = ["text, data = '', {}"]
    lines += [f"text += {line!r}" for line in text.splitlines(keepends=True)]
    lines += [f"data[{name!r}] = {value!r}" for name, value in data.items()]
    monitor = f", monitor=({rng.choice(NAMES)!r},)" if rng.random() < 0.1 else ""
    lines += [f"m = gp.read_bugs(text, data{monitor})", "print(m.graph)"]
    if len(text) < 600 and rng.random() < 0.35:
        lines += ["S = gp.compile(m); print(S); S.source"]
        lines += ["D = S.sample(2, warmup=1, chains=1, seed=1, progress=False)", "D.summary()"]
        lines += rng.choice((["S.verify()"], ["S.explain()"], ["print(gp.write_bugs(m))"], []))
    return lines
