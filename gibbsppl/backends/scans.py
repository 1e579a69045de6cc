"""Scans of labels: plain loops, in the part of Python that Numba compiles."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import sympy as sp
from sympy import Add, Mul
from sympy.printing.str import StrPrinter

from gibbsppl.backends.accumulation import accumulated
from gibbsppl.backends.lines import INDENT, indented
from gibbsppl.backends.module import Module
from gibbsppl.errors import CompileError
from gibbsppl.expressions import Array, Dim, Equals, Expr, Leaf, Where
from gibbsppl.finite import LABEL
from gibbsppl.graph import Range, Variable
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.steps import NaturalParameter, ScanDraw, Step

# The functions that the loops may call, by SymPy's name.
CALLS = {"log": "math.log", "exp": "math.exp", "loggamma": "math.lgamma"}


def scan_functions(module: Module, step: ScanDraw) -> str:
    """The function of what a scan keeps, its loops, and the log weights of all labels."""
    if step.weights is not None:
        return "\n\n\n".join([_kept(module, step), _weights_at_once(module, step, step.weights)])
    return "\n\n\n".join([_kept(module, step), _loops(module, step), _weights(module, step)])


def scan_lines(module: Module, step: ScanDraw) -> list[str]:
    """The lines that carry out a scan."""
    name = step.variables[0]
    if step.approximate:
        lower = f" + {step.conditional.lower}" if step.conditional.lower else ""
        call = f"{module.functions[step.statement.name]}(s, c)"
        drawn = f's["{name}"] = runtime.labels(rng, {call}){lower}  # approximate: all at once'
        return [*made(module, step), drawn]
    arguments = f'{scan_name(module, step)}, s["{name}"], {_fixed_text(module, step)}'
    call = f"{arguments}, {_kept_call(module, step)}, {step.conditional.size}"
    return [*made(module, step), f's["{name}"] = runtime.scan(rng, {call})']


def made(module: Module, step: Step) -> list[str]:
    """Lines that make the array of an auxiliary variable that is not drawn whole."""
    if step.statement.name not in module.schedule.auxiliary:
        return []
    zeros, shape = module.writer().call("zeros"), module.shape(step.statement)
    kind = ", int" if step.statement.support.is_discrete else ""
    name = step.variables[0]
    return [f'if "{name}" not in s:', f'{INDENT}s["{name}"] = {zeros}({shape}{kind})']


def scan_name(module: Module, step: ScanDraw) -> str:
    """The name of the function of the loops."""
    return module.functions[step.statement.name].replace("_given_rest", "_scan")


def _kept_name(module: Module, step: ScanDraw) -> str:
    return module.functions[step.statement.name].replace("_given_rest", "_kept")


def _kept_call(module: Module, step: ScanDraw) -> str:
    return f"{_kept_name(module, step)}(s, c)"


def _kept(module: Module, step: ScanDraw) -> str:
    scan = step.conditional
    lines = [f"def {_kept_name(module, step)}(s, c):"]
    doc = f"What the scan of {step.variables[0]} keeps up to date, computed anew."
    lines.append(f'{INDENT}"""{doc}"""')
    printer = _Loops(module, of=step.variables[0], whole=True)
    for name in scan.integrated:
        own = next(s for s in module.schedule.steps if s.variables[0] == name)
        etas = f"{module.functions[own.statement.name]}(s, c)"
        lines.append(f"{INDENT}{module.names.of(name)}_etas = {etas}")
    needed = {(k.of, k.position) for k in scan.kept}
    for of, position in sorted(needed):
        dims = module.graph.variables[of].dims
        shape = tuple(module.graph.sizes[d] for d in dims)
        local = module.names.of(f"{of}_eta_{position + 1}")
        lines.append(
            f"{INDENT}{local} = runtime.full({module.names.of(of)}_etas[{position}], {shape})"
        )
    for k in scan.kept:
        if k.total is not None:
            dims = module.graph.variables[k.of].dims
            axes = tuple(i for i, d in enumerate(dims) if d not in k.axes)
            total = printer.doprint(k.total)
            lines.append(f"{INDENT}{module.names.of(k.name)} = ({total}).sum(axis={axes})")
    names = [module.names.of(k.name) for k in scan.kept]
    lines.append(f"{INDENT}return ({', '.join(names)}{',' if len(names) == 1 else ''})")
    return "\n".join(lines)


def _loops(module: Module, step: ScanDraw) -> str:
    scan, printer = step.conditional, _Loops(module, of=step.variables[0])
    own = {r.dim: r for r in step.statement.over}
    kept = [module.names.of(k.name) for k in scan.kept]
    fixed = [module.names.of(a) for a in _fixed(scan)]
    z = module.names.of(step.variables[0])
    arguments = ", ".join(["$draws", "$out", "$weights", "$u", z, *fixed, *kept])
    at = "".join(f"[{printer.position(d)}]" for d in step.statement.target.indices)
    lower, last = scan.lower, scan.size - 1
    taken = f"{z}{at} - {lower}" if lower else f"{z}{at}"
    put = f"$label + {lower}" if lower else "$label"
    weigh, is_ratio = _weighing(printer, scan)
    logs = "$weights[$label]"
    if is_ratio:
        logs = "math.log($weights[$label]) if $weights[$label] > 0.0 else -math.inf"
    drawn = [
        *(_of_ratios(scan.size) if is_ratio else _of_logs(scan.size)),
        f"$level = $u{at} * $weights[{last}]",
        "$label = 0",
        f"while $label < {last} and $weights[$label] <= $level:",
        f"{INDENT}$label += 1",
        f"{z}{at} = {put}",
    ]
    told = [
        f"for $label in range({scan.size}):",
        f"{INDENT}$out[$label]{at} = {logs}",
        f"$label = {taken}",
    ]
    body = [
        f"$label = {taken}",
        *_changes(printer, scan, "-="),
        *weigh,
        "if $draws:",
        *indented(drawn),
        "else:",
        *indented(told),
        *_changes(printer, scan, "+="),
    ]
    for dim in reversed(step.statement.target.indices):
        r = own.get(dim, Range(dim, 0, module.graph.sizes[dim]))
        body = [_for(printer, r), *indented(body)]
    doc = f"Draw the elements of {step.variables[0]} one by one, or write their log weights to out."
    head = f"def {scan_name(module, step)}({arguments}):"
    return _with_names(module, "\n".join([head, f'{INDENT}"""{doc}"""', *indented(body)]))


def _with_names(module: Module, text: str) -> str:
    """The text with a name that nothing else has for each word after a dollar sign."""
    words = dict.fromkeys(re.findall(r"\$(\w+)", text))
    names = {word: module.names.fresh(word) for word in words}
    return re.sub(r"\$(\w+)", lambda m: names[m.group(1)], text)


def _of_ratios(size: int) -> list[str]:
    """Lines that add up weights."""
    return [
        f"for $label in range(1, {size}):",
        f"{INDENT}$weights[$label] += $weights[$label - 1]",
    ]


def _of_logs(size: int) -> list[str]:
    """Lines that add up weights given as logs."""
    return [
        "$highest = $weights[0]",
        f"for $label in range(1, {size}):",
        f"{INDENT}$highest = max($highest, $weights[$label])",
        "$total = 0.0",
        f"for $label in range({size}):",
        f"{INDENT}$total += math.exp($weights[$label] - $highest)",
        f"{INDENT}$weights[$label] = $total",
    ]


def _for(printer: _Loops, r: Range) -> str:
    start = f"{r.start}, " if r.start else ""
    return f"for {printer.position(r.dim)} in range({start}{r.stop}):"


def _weighing(printer: _Loops, scan: Scan) -> tuple[list[str], bool]:
    """Lines that weigh each label: by a product of ratios if it is one, else by its log.

    (A product over many children would underflow.)
    """
    ratios = [_as_ratio(term) for term, over in scan.terms if not over]
    is_ratio = None not in ratios and len(ratios) == len(scan.terms)
    plain = Add(*(t for t, over in scan.terms if not over))
    start = Mul(*(r for r in ratios if r is not None)) if is_ratio else plain
    body = [f"$weights[$label] = {printer.doprint(start)}"]
    for term, over in scan.terms:
        line = [f"$weights[$label] += {printer.doprint(term)}"]
        for r in reversed(over):
            line = [_for(printer, r), *indented(line)]
        body += line if over else []
    return [f"for $label in range({scan.size}):", *indented(body)], is_ratio


def _as_ratio(term: Expr) -> Expr | None:
    """``exp`` of a sum of logs with whole coefficients, as a product."""
    factors = []
    for t in Add.make_args(term):
        number, rest = t.as_coeff_Mul()
        if not number.is_Integer or not isinstance(rest, sp.log):
            return None
        factors.append(rest.args[0] ** number)
    return Mul(*factors)


def _changes(printer: _Loops, scan: Scan, operator: str) -> list[str]:
    """Lines that take the contribution of an element off, or put it on."""
    lines = []
    for change in scan.changes:
        at = "".join(f"[{printer.doprint(i)}]" for i in change.at)
        array = printer.module.names.of(change.array)
        line = [f"{array}{at} {operator} {printer.doprint(change.value)}"]
        for r in reversed(change.over):
            line = [_for(printer, r), *indented(line)]
        lines += line
    return lines


def _weights(module: Module, step: ScanDraw) -> str:
    name = module.functions[step.statement.name]
    integrated = ", ".join(step.conditional.integrated)
    doc = f"{step.statement.target} | rest but {integrated}: log weights (first axis)."
    variable = step.variables[0]
    arguments = f'{scan_name(module, step)}, s["{variable}"], {_fixed_text(module, step)}'
    code = f"runtime.weighed({arguments}, {_kept_call(module, step)}, {step.conditional.size})"
    return "\n".join([f"def {name}(s, c):", f'{INDENT}"""{doc}"""', f"{INDENT}return {code}"])


def _weights_at_once(module: Module, step: ScanDraw, weights: NaturalParameter) -> str:
    """The log weights of all labels in one vector call."""
    scan, arrays = step.conditional, {k.name: k.axes for k in step.conditional.kept}
    known = {n: Variable(n, axes, "random") for n, axes in arrays.items()}
    writer = module.writer({LABEL: scan.size}, more=known, keeps=True)
    body = accumulated(writer, "log_weights", weights, full=True)
    integrated = ", ".join(scan.integrated)
    doc = f"{step.statement.target} | rest but {integrated}: log weights (first axis)."
    name = module.functions[step.statement.name]
    text = module.function(name, doc, writer, [*body, "return log_weights"])
    head, told, *rest = text.split("\n")
    names = ", ".join(repr(n) for n in arrays)
    kept = f"{INDENT}s = s | dict(zip(({names},), {_kept_call(module, step)}))"
    return "\n".join([head, told, kept, *rest])


def _fixed(scan: Scan) -> list[str]:
    """The arrays that a scan reads and does not change."""
    kept = {k.name for k in scan.kept} | {scan.statement.target.array.name}
    read = [t for t, _ in scan.terms]
    read += [e for c in scan.changes for e in (c.value, *c.at)]
    names = {str(x) for e in read for x in sp.sympify(e).atoms(Array)}
    return sorted(names - kept)


def _fixed_text(module: Module, step: ScanDraw) -> str:
    latent = {s.target.array.name for s in module.graph.latent}
    scan, entries = step.conditional, []
    read = [t for t, _ in scan.terms] + [e for c in scan.changes for e in (c.value, *c.at)]
    positions = {x.array.name for e in read for i in _indices(e) for x in i.atoms(Leaf)}
    positions |= {x.array.name for c in scan.changes for i in c.at for x in i.atoms(Leaf)}
    for name in _fixed(scan):
        entry = f's["{name}"]' if name in latent else f'c["{name}"]'
        if name not in latent:
            module.hoisted.arrays.add(name)
        entries.append(f"runtime.positions({entry})" if name in positions else entry)
    return f"({', '.join(entries)}{',' if len(entries) == 1 else ''})"


def _indices(expr: Expr) -> list[Expr]:
    """All indices of all leaves in an expression."""
    return [i for leaf in sp.sympify(expr).atoms(Leaf) for i in leaf.indices]


class _Loops(StrPrinter):  # type: ignore[misc]
    """Expressions of one element, as Python; ``whole``: of whole arrays at once."""

    printmethod = "_loops"

    def __init__(self, module: Module, *, of: str, whole: bool = False) -> None:
        super().__init__()
        self.module = module
        self.of = of
        self.whole = whole

    def position(self, dim: Expr) -> str:
        """The name of the loop's variable along a dim."""
        return self.module.names.of(f"at {dim}")

    def _print_Leaf(self, leaf: Leaf) -> str:  # noqa: N802
        name = self.module.names.of(leaf.array.name)
        if self.whole:
            return str(name)
        return name + "".join(f"[{self._print(i)}]" for i in leaf.indices)

    def _print_Dim(self, dim: Dim) -> str:  # noqa: N802
        return "$label" if dim == LABEL else self.position(dim)

    def _print_Pi(self, _expr: Any) -> str:  # noqa: N802
        return repr(float(sp.pi))

    def _print_Pow(self, expr: Any, **_: Any) -> str:  # noqa: N802
        base, power = expr.as_base_exp()
        if power == -1:
            return f"1.0/({self._print(base)})"
        return f"({self._print(base)})**({self._print(power)})"

    def _print_Equals(self, expr: Equals) -> str:  # noqa: N802
        first, second = map(self._print, expr.args)
        return f"({first} == {second})"

    def _print_Where(self, expr: Where) -> str:  # noqa: N802
        chosen, yes, no = map(self._print, expr.args)
        return f"({yes} if {chosen} else {no})"

    def _print_Function(self, expr: Any) -> str:  # noqa: N802
        name = type(expr).__name__
        if name not in CALLS:
            self._refuse(name)
        call = CALLS[name].removeprefix("math.") if self.whole else CALLS[name]
        return f"{call}({self._print(expr.args[0])})"

    _print_exp = _print_loggamma = _print_Function

    def _print_log(self, expr: Any) -> str:
        (x,) = expr.args
        plain = self._print_Function(expr)
        # (Python has no log of zero, which a label that is impossible may lead to)
        return (
            plain
            if self.whole or x.is_positive
            else f"({plain} if {self._print(x)} > 0.0 else -math.inf)"
        )

    def emptyPrinter(self, expr: Any) -> str:  # noqa: N802  (SymPy's name)
        """What has no form in the loops."""
        return str(expr) if isinstance(expr, str) else self._refuse(type(expr).__name__)

    def _print_Over(self, _expr: Any) -> str:  # noqa: N802
        return self._refuse("a sum")

    def _refuse(self, what: str) -> NoReturn:
        raise CompileError(
            f"collapse: the scan of {self.of} would need {what} in its loops, which it cannot "
            "write; leave collapse= out."
        )
