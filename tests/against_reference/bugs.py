"""Descriptions of models as BUGS text: loops from 1, a line for each part.

What the language has no word for is `NotExpressibleError`. Labels and indices count from 1 there.
"""

import numpy as np

from against_reference.models import Function, Known, Term, Variable
from against_reference.trees import At, Call, Fold, Lag, Named, Number, Read
from against_reference.vectors import VECTOR_ROWS


class NotExpressibleError(Exception):
    """The language has no word for it."""


FUNCTIONS = {
    "+": "({} + {})", "-": "({} - {})", "*": "({} * {})", "/": "({} / {})", "**": "pow({}, {})",
    "neg": "(-{})", "exp": "exp({})", "log": "log({})", "sqrt": "sqrt({})", "abs": "abs({})",
    "expit": "ilogit({})", "logit": "logit({})", "Phi": "phi({})", "loggamma": "loggam({})",
    "where": "ifelse({} > 0.5, {}, {})", "minimum": "min({}, {})", "maximum": "max({}, {})",
    "step": "step({})", "equals": "equals({}, {})",
}


def tau_of(p):
    if "tau" in p:
        return p["tau"]
    return f"pow({p['sigma']}, -2)" if "sigma" in p else f"(1 / {p['var']})"


def rate_of(p):
    return p["rate"] if "rate" in p else f"(1 / {p['scale']})"


def gamma_of(p):
    if "sigma" in p:
        return f"dgamma(pow({p['mu']} / {p['sigma']}, 2), {p['mu']} / pow({p['sigma']}, 2))"
    rate = f"({p['shape']} / {p['mu']})" if "mu" in p else rate_of(p)
    return f"dgamma({p['shape']}, {rate})"


def chance_of(p):
    return p["p"] if "p" in p else f"ilogit({p['logit_p']})"


def beta_of(p):
    if "a" in p:
        return f"dbeta({p['a']}, {p['b']})"
    return f"dbeta({p['mu']} * {p['kappa']}, (1 - {p['mu']}) * {p['kappa']})"


def waiting_of(p):
    if "n" in p:
        return f"dnegbin({p['p']}, {p['n']})"
    return f"dnegbin({p['alpha']} / ({p['alpha']} + {p['mu']}), {p['alpha']})"


def weibull_of(p):
    rate = p["rate"] if "rate" in p else f"pow({p['scale']}, -{p['shape']})"
    return f"dweib({p['shape']}, {rate})"


# Each distribution from the texts of its parameters; those of "half" ones are cut at 0.
DISTRIBUTIONS = {
    "Normal": lambda p: f"dnorm({p['mu']}, {tau_of(p)})",
    "StudentT": lambda p: f"dt({p['mu']}, {tau_of(p)}, {p['nu']})",
    "Cauchy": lambda p: f"dt({p['mu']}, pow({p['scale']}, -2), 1)",
    "Laplace": lambda p: f"ddexp({p['mu']}, {rate_of(p)})",
    "Logistic": lambda p: f"dlogis({p['mu']}, 1 / {p['scale']})",
    "Gamma": gamma_of,
    "Exponential": lambda p: f"dexp({rate_of(p)})",
    "ChiSquared": lambda p: f"dchisqr({p['nu']})",
    "LogNormal": lambda p: f"dlnorm({p['mu']}, {tau_of(p)})",
    "Weibull": weibull_of,
    "Pareto": lambda p: f"dpar({p['shape']}, {p['minimum']})",
    "Beta": beta_of,
    "Uniform": lambda p: f"dunif({p['lower']}, {p['upper']})",
    "FisherSnedecor": lambda p: f"df({p['nu_1']}, {p['nu_2']})",
    "Bernoulli": lambda p: f"dbern({chance_of(p)})",
    "Binomial": lambda p: f"dbin({chance_of(p)}, {p['n']})",
    "Poisson": lambda p: f"dpois({p['rate']})",
    "NegativeBinomial": waiting_of,
    "Geometric": lambda p: f"dnegbin({p['p']}, 1)",
    "BetaBinomial": lambda p: f"dbetabin({p['alpha']}, {p['beta']}, {p['n']})",
    "HalfNormal": lambda p: f"dnorm(0, {tau_of(p)}) T(0, )",
    "HalfCauchy": lambda p: f"dt(0, pow({p['scale']}, -2), 1) T(0, )",
    "HalfStudentT": lambda p: f"dt(0, pow({p['scale']}, -2), {p['nu']}) T(0, )",
    "Categorical": lambda p: f"dcat({p['p']})",
    "Dirichlet": lambda p: f"ddirch({p['a']})",
    "Multinomial": lambda p: f"dmulti({p['p']}, {p['n']})",
    "MvNormal": lambda p: f"dmnorm({p['mu']}, {p.get('tau') or 'inverse(' + p['cov'] + ')'})",
    "MvStudentT": lambda p: (
        f"dmt({p['mu']}, {p.get('tau') or 'inverse(' + p['scale'] + ')'}, {p['nu']})"),
    "Wishart": lambda p: f"dwish({p.get('R') or 'inverse(' + p['V'] + ')'}, {p['nu']})",
}


class Writer:
    """Writes one program: lines in loops, with lines for what is summed."""

    def __init__(self, model):
        self.model, self.lines, self.count = model, [], 0
        self.labels = {v.name for v in model.variables if v.kind == "label"}

    def line(self, ranges, text):
        for dim, (start, stop) in reversed(ranges.items()):
            text = f"for ({word(dim)} in {start + 1}:{stop}) {{ {text} }}"
        self.lines.append(text)

    def all_of(self, dims):
        return {d: (0, self.model.lengths[d]) for d in dims}

    # ---- expressions -------------------------------------------------------------------------

    def expr(self, e, at):
        match e:
            case Number():
                return f"({e.number!r})" if e.number < 0 else repr(e.number)
            case Read():
                return indexed(e.name, [at[d] for d in e.axes])
            case Named():
                return indexed(e.name, [at[d] for d in sorted(e.dims)])
            case Lag():
                return self.expr(e.body, {**at, e.dim: f"{at[e.dim]} - {e.steps}"})
            case At():
                where = str(e.index + 1) if isinstance(e.index, int) else self.expr(e.index, at)
                return self.expr(e.body, {**at, e.dim: where})
            case Fold():
                return self.fold(e, at)
            case Call():
                return self.call(e, at)
        raise NotExpressibleError(type(e).__name__)

    def call(self, e, at):
        if e.function == "<":
            raise NotExpressibleError(e.function)
        args = [self.expr(a, at) for a in e.args]
        if e.function == "equals" and any(map(self.is_label, e.args)):
            args = [str(a.number + 1) if isinstance(a, Number) else text
                    for a, text in zip(e.args, args, strict=True)]
        else:
            args = [f"({text} - 1)" if self.is_label(a) else text
                    for a, text in zip(e.args, args, strict=True)]
        return FUNCTIONS[e.function].format(*args)

    def is_label(self, e):
        *_, last = spine(e)
        return isinstance(last, Read) and last.name in self.labels

    def fold(self, e, at):
        axes = (*sorted(e.body.dims - {e.dim}), e.dim)
        name = self.computed(e.body, axes)
        stop = at[e.dim] if e.running else self.model.lengths[e.dim]
        return f"{e.how}({indexed(name, [*(at[d] for d in axes[:-1]), f'1:{stop}'])})"

    def computed(self, body, axes):
        """The name of a new array of an expression."""
        if any(isinstance(x, Lag) for x in body.walk()):
            raise NotExpressibleError("a lag in what is summed")
        self.count += 1
        name = f"part{self.count}"
        at = {d: word(d) for d in axes}
        self.line(self.all_of(axes), f"{indexed(name, at.values())} <- {self.expr(body, at)}")
        return name

    def vector(self, e, at, dims):
        """The text of an expression along event dims."""
        whole = {d: f"1:{self.model.lengths[d]}" for d in dims}
        if all(isinstance(x, Read | At | Lag) for x in spine(e)) and set(dims) <= e.dims:
            text = self.expr(e, {**at, **{d: f"<{d}>" for d in dims}})
            # (read by two axes, a range would be all pairs of positions)
            if all(text.count(f"<{d}>") == 1 for d in dims):
                for d in dims:
                    text = text.replace(f"<{d}>", whole[d])
                return text
        axes = (*sorted(e.dims - set(dims)), *dims)
        name = self.computed(e, axes)
        return indexed(name, [*(at[d] for d in axes[: -len(dims)]), *whole.values()])

    # ---- lines -------------------------------------------------------------------------------

    def variable(self, v):
        if v.censoring:
            raise NotExpressibleError("censoring")
        for part in v.parts:
            if part.number is not None:
                raise NotExpressibleError("a number in a region")
            ranges = {d: (a, b) for d, a, b in zip(
                v.batch, part.starts or [0] * len(v.batch),
                part.stops or [self.model.lengths[d] for d in v.batch], strict=True)}
            at = {d: word(d) for d in v.batch}
            target = indexed(v.name, [*at.values(), *(
                f"1:{self.model.lengths[d]}" for d in v.event)])
            text = self.distribution(v, part, at)
            self.line(ranges, f"{target} ~ {text}")

    def distribution(self, v, part, at):
        if part.family not in DISTRIBUTIONS:
            raise NotExpressibleError(part.family)
        texts = {}
        for name, e in part.written.items():
            dims = ()
            if part.family == "Categorical":
                p = part.written["p"]
                dims = (next((d for d in (f"{v.of}'", v.of) if d in p.dims), v.of),)
            elif part.family in VECTOR_ROWS:
                parameters = VECTOR_ROWS[part.family].parameters
                axes = parameters[name][1] if name in parameters else 2
                k = v.event[0]
                dims = (k, f"{k}'")[:axes]
            texts[name] = self.vector(e, at, dims) if dims else self.expr(e, at)
        text = DISTRIBUTIONS[part.family](texts)
        if part.lower is None and part.upper is None:
            return text
        if "T(" in text:
            raise NotExpressibleError("two truncations")
        ends = ["" if e is None else self.expr(e, at) for e in (part.lower, part.upper)]
        return f"{text} T({ends[0]}, {ends[1]})"

    def term(self, t):
        if t.constraint:
            raise NotExpressibleError("a constraint")
        at = {d: word(d) for d in t.ranges}
        target = indexed(f"{t.name}.zero", [
            f"{at[d]} - {start}" if start else at[d] for d, (start, _) in t.ranges.items()])
        self.line(t.ranges, f"{target} ~ dloglik({self.expr(t.body, at)})")

    def text(self):
        for item in self.model.items:
            if isinstance(item, Variable):
                self.variable(item)
            elif isinstance(item, Function):
                dims = sorted(item.body.dims)
                at = {d: word(d) for d in dims}
                left = indexed(item.name, at.values())
                self.line(self.all_of(dims), f"{left} <- {self.expr(item.body, at)}")
            elif isinstance(item, Term):
                self.term(item)
        return "model {\n  " + "\n  ".join(self.lines) + "\n}\n"


def spine(e):
    """An expression down to the array that it reads; indices are left out."""
    while True:
        yield e
        if not isinstance(e, At | Lag):
            return
        e = e.body


def word(dim):
    return dim.replace("'", ".copy")


def indexed(name, at):
    at = list(at)
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def program(model):
    """The text of a model and its data, by name."""
    text = Writer(model).text()
    data = {}
    for item in model.items:
        if isinstance(item, Known):
            data[item.name] = item.values + (item.of is not None)
        elif isinstance(item, Variable) and item.mask is not None and item.mask.any():
            values = np.asarray(model.values[item.name], float) + (item.kind == "label")
            data[item.name] = np.ma.masked_array(np.broadcast_to(values, item.mask.shape),
                                                 mask=~item.mask)
        elif isinstance(item, Term):
            data[f"{item.name}.zero"] = np.zeros([b - a for a, b in item.ranges.values()])
    used = {n: v for n, v in data.items() if n in text}
    return text, used


def script(model):
    """A script that reads the program."""
    text, data = program(model)
    given = ", ".join(
        f'"{n}": np.ma.masked_array({v.data.tolist()}, mask={v.mask.tolist()})'
        if isinstance(v, np.ma.MaskedArray) else f'"{n}": np.array({np.asarray(v).tolist()})'
        for n, v in data.items())
    asked = ", ".join(f"{n}={t}" for n, t in model.settings.items())
    return (f'import numpy as np\nimport gibbsppl as gp\n\ntext = """{text}"""\n'
            f"model = gp.read_bugs(text, {{{given}}})\n"
            f"sampler = gp.compile(model{', ' if asked else ''}{asked})\n")
