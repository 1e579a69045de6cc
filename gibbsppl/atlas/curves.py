"""The density of a distribution of numbers as a picture, for a few values of its parameters.

Comes in: a row of the table of distributions. Goes out: SVG, or None of a row that has no density
over numbers. Values are chosen by the supports of parameters, or are the example of the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from gibbsppl.algebra.exact_numbers import number
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.display.svg import COLOURS, FONT, THEMES
from gibbsppl.display.text_widths import width_of
from gibbsppl.families import Family, Parameter
from gibbsppl.model.evaluation import evaluate

WIDTH, HEIGHT, LEFT, BELOW, LINE = 360.0, 150.0, 12.0, 20.0, 16.0
SIZE = 11.0
FARTHEST, POINTS = 60.0, 6001
# Where a density is so small a part of its largest value, it is left out.
NEGLIGIBLE = 0.01
TRIALS = 10.0

Numbers = np.ndarray


@dataclass(frozen=True, slots=True)
class Curve:
    """The density at some places, and what parameters it has."""

    text: str
    places: Numbers
    density: Numbers


def curves_of(family: Family) -> list[Curve]:
    """The densities of a distribution of numbers, none where it has none.

    >>> from gibbsppl.families import FAMILIES
    >>> [c.text for c in curves_of(FAMILIES["Exponential"])], curves_of(FAMILIES["Dirichlet"])
    (['rate=1', 'rate=3'], [])
    """
    if family.event or any(p.event for p in family.parameters.values()) or not family.parameters:
        return []
    found = []
    for values in _settings(family):
        places = _grid(family, values)
        x = Array("x")[Dim("i")]
        given = {n: number(v) for n, v in values.items()}
        log_density = family.log_density(x, (), **given)
        arrays = {"x": places}
        over = (Range(Dim("i"), 0, len(places)),)
        with np.errstate(all="ignore"):
            logs = evaluate(log_density, over, arrays, {Dim("i"): len(places)})
        density = np.exp(np.broadcast_to(logs, places.shape))
        if np.isfinite(density).any():
            text = ", ".join(f"{n}={v:g}" for n, v in values.items())
            found.append(Curve(text, places, density))
    return found


def _settings(family: Family) -> Iterator[Mapping[str, float]]:
    """Values of the parameters: first ones; then the first positive one larger, or the last."""
    if family.example:
        yield {n: float(v) for n, v in family.example.items() if not isinstance(v, tuple)}
        return
    first = {n: _value(p) for n, p in family.parameters.items()}
    yield first
    scaled = [n for n, p in family.parameters.items() if p.support.lower == 0]
    for name in dict.fromkeys((*scaled[:1], *list(family.parameters)[-1:])):
        larger = _value(family.parameters[name], is_larger=True)
        if larger != first[name]:
            yield {**first, name: larger}


def _value(parameter: Parameter, *, is_larger: bool = False) -> float:
    support = parameter.support
    if support.is_discrete:
        return 2 * TRIALS if is_larger else TRIALS
    if support.upper == 1:
        return 0.7 if is_larger else 0.3
    low = float(support.lower) if support.lower.is_finite else 0.0
    return low + (3.0 if is_larger else 0.0 if not support.lower.is_finite else 1.0)


def _grid(family: Family, values: Mapping[str, float]) -> Numbers:
    """Places all over the support, ends left out."""
    support = family.support((), **{n: number(v) for n, v in values.items()})
    low, high = (float(sp.sympify(e).evalf()) for e in (support.lower, support.upper))
    low, high = max(low, -FARTHEST), min(high, FARTHEST)
    if support.is_discrete:
        return np.arange(low, high + 1)
    return np.linspace(low, high, POINTS + 2)[1:-1]


def svg_of_curves(family: Family) -> str | None:
    """The picture of the densities, each with its parameters below."""
    curves = curves_of(family)
    if not curves:
        return None
    seen = [c.places[c.density > NEGLIGIBLE * np.nanmax(c.density)] for c in curves]
    low, high = min(s.min() for s in seen), max(s.max() for s in seen)
    is_discrete = len(curves[0].places) < POINTS
    low, high = (low - 0.5, high + 0.5) if is_discrete else (low, high)
    inside = [(c, (c.places >= low) & (c.places <= high)) for c in curves]
    top = max(_top(c.density[at]) for c, at in inside)
    colours = list(COLOURS.values())[1:]
    parts = [_axis(low, high)]
    for n, (curve, at) in enumerate(inside):
        x = LEFT + (curve.places[at] - low) / (high - low) * (WIDTH - 2 * LEFT)
        y = HEIGHT - BELOW - np.clip(curve.density[at] / top, 0, 1.2) * (HEIGHT - BELOW - 12)
        shift = 3.0 * (n - (len(curves) - 1) / 2) if is_discrete else 0.0
        parts.append((_bars if is_discrete else _line)(x + shift, y, colours[n]))
        parts.append(_label(curve.text, n, colours[n]))
    height = HEIGHT + 8 + LINE * len(curves)
    width = max(WIDTH, *(2 * LEFT + 22 + width_of(c.text, SIZE) for c in curves))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="{FONT}" '
        f'font-size="{SIZE:g}"><title>Densities of {family.name}</title><style>{THEMES}</style>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _top(density: Numbers) -> float:
    """The height of a picture; of a density that rises without end at a side, it is cut."""
    finite = density[np.isfinite(density)]
    few = len(finite) // 100
    ends = [(finite[0], finite[few]), (finite[-1], finite[-1 - few])]
    if few and any(end == finite.max() and end > 3 * near for end, near in ends):
        return float(2 * max(near for _, near in ends))
    return float(finite.max())


def _line(x: Numbers, y: Numbers, colour: str) -> str:
    finite = np.isfinite(y)
    every = max(1, len(x) // 150)
    shown = zip(x[finite][::every], y[finite][::every], strict=True)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in shown)
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _bars(x: Numbers, y: Numbers, colour: str) -> str:
    base = HEIGHT - BELOW
    line = "".join(f"M{a:.1f},{base:.1f}V{b:.1f}" for a, b in zip(x, y, strict=True))
    return f'<path d="{line}" stroke="{colour}" stroke-width="2.5" fill="none"/>'


def _axis(low: float, high: float) -> str:
    """The line below, with a few round numbers."""
    step = 10 ** np.floor(np.log10(high - low))
    step *= next(m for m in (0.2, 0.5, 1, 2) if (high - low) / (m * step) <= 6)
    marks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    base = HEIGHT - BELOW
    ink = 'stroke="currentColor" stroke-opacity="0.6"'
    found = [f'<path d="M{LEFT},{base}H{WIDTH - LEFT}" {ink}/>']
    for mark in marks:
        x = LEFT + (mark - low) / (high - low) * (WIDTH - 2 * LEFT)
        found.append(f'<path d="M{x:.1f},{base}v4" {ink}/>')
        found.append(
            f'<text x="{x:.1f}" y="{base + 15}" text-anchor="middle" fill="currentColor">'
            f"{mark + 0.0:g}</text>"
        )
    return "".join(found)


def _label(text: str, number: int, colour: str) -> str:
    y = HEIGHT + 8 + LINE * number
    return (
        f'<path d="M{LEFT},{y - 1}h16" stroke="{colour}" stroke-width="2.5"/>'
        f'<text x="{LEFT + 22}" y="{y + 3}" fill="currentColor">{text}</text>'
    )
