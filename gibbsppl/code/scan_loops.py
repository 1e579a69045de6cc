"""The loops of scans of labels: plain Python, in the part of the language that Numba compiles."""

from __future__ import annotations

import re

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Array, Expr
from gibbsppl.algebra.functions import INDICATORS
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.loops import Loops, for_line
from gibbsppl.code.module import Module
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.kinds import Single

# What a scan says where none of the labels can be drawn.
IMPOSSIBLE = "all labels have probability zero, or a weight is not a number"


def scan_loops(module: Module, step: Single, scan: Scan, name: str) -> str:
    """The function of the loops of a scan that keeps its arrays up to date."""
    printer = Loops(module, step)
    own = {r.dim: r for r in step.statement.over}
    kept = [module.names.of(k.name) for k in scan.kept]
    fixed = [module.names.of(a) for a in fixed_arrays(scan)]
    z = module.names.of(step.variables[0])
    arguments = ["$draws", "$out", "$weights", "$u", z, *fixed, *kept]
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
        f"if not 0.0 < $weights[{last}] < math.inf:",
        f'{INDENT}raise ValueError("{IMPOSSIBLE}")',
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
    for dim in reversed(step.statement.target.own_dims):
        r = own.get(dim, Range(dim, 0, module.graph.sizes[dim]))
        body = [for_line(printer, r), *indented(body)]
    doc = f"Draw the elements of {step.variables[0]} one by one, or write their log weights to out."
    arguments += [f"$square_{n}" for n in range(1, len(printer.squares) + 1)]
    module.squares[step.name] = tuple(printer.squares)
    head = f"def {name}({', '.join(arguments)}):"
    return _with_names(module, "\n".join([head, f'{INDENT}"""{doc}"""', *indented(body)]))


def _with_names(module: Module, text: str) -> str:
    """The text with a name that nothing else has for each word after a dollar sign."""
    found = dict.fromkeys(re.findall(r"\$(\w+)", text))
    names = {word: module.names.fresh(word) for word in found}
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


def _weighing(printer: Loops, scan: Scan) -> tuple[list[str], bool]:
    """Lines that compute each label's weight, and whether as a product of ratios, not a log.

    (A product over many children would underflow.) For labels excluded by a bound nothing else is
    computed.
    """
    ratios = [as_ratio(term) for term, over in scan.terms if not over]
    is_ratio = None not in ratios and len(ratios) == len(scan.terms)
    single = Add(*(t for t, over in scan.terms if not over))
    gates = [t for t in Add.make_args(single) if t.has(*INDICATORS) and not is_ratio]
    plain = single - Add(*gates)
    start = Mul(*(r for r in ratios if r is not None)) if is_ratio else plain
    body = printer.lines("$weights[$label] +=" if gates else "$weights[$label] =", start)
    for term, over in scan.terms:
        line = printer.lines("$weights[$label] +=", term) if over else []
        for r in reversed(over):
            line = [for_line(printer, r), *indented(line)]
        body += line
    if gates:
        first = printer.lines("$weights[$label] =", Add(*gates))
        body = [*first, "if $weights[$label] > -math.inf:", *indented(body)]
    return [f"for $label in range({scan.size}):", *indented(body)], is_ratio


def as_ratio(term: Expr) -> Expr | None:
    """``exp`` of a sum of logs with whole coefficients, as a product."""
    factors = []
    for t in Add.make_args(term):
        number, rest = t.as_coeff_Mul()
        if not number.is_Integer or not isinstance(rest, sp.log):
            return None
        factors.append(rest.args[0] ** number)
    return Mul(*factors)


def _changes(printer: Loops, scan: Scan, operator: str) -> list[str]:
    """Lines that subtract the contribution of an element, or add it back."""
    lines = []
    # (the change of a sum is read from arrays without the element, which change around it)
    for change in scan.changes if operator == "-=" else reversed(scan.changes):
        at = printer.doprint(change.array[change.at])
        line = printer.lines(f"{at} {operator}", change.value)
        for r in reversed(change.over):
            line = [for_line(printer, r), *indented(line)]
        lines += line
    return lines


def fixed_arrays(scan: Scan) -> list[str]:
    """The arrays that a scan reads and does not change."""
    kept = {k.name for k in scan.kept} | {scan.statement.target.array.name}
    read = [t for t, _ in scan.terms]
    read += [e for c in scan.changes for e in (c.value, *c.at)]
    names = {str(x) for e in read for x in sp.sympify(e).atoms(Array)}
    return sorted(names - kept)
