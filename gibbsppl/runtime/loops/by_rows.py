"""Joint normal draws of many elements that few rows tie, as `gibbsppl.runtime.by_rows` has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel
from .joint import definite
from .matrices import backward, factorised, forward

APART: Mapping[str, str] = {}


@kernel
def joint_by_rows(
    rng: Generator,
    linear: Floats,
    precisions: Floats,
    design: Floats,
    weights: Floats,
    responses: Floats,
    out: Floats,
) -> None:
    """A draw of elements by the rows that tie them, into ``out``.

    ``linear`` and ``precisions`` are those of each element alone, ``design[j]`` what the rows have
    of an element. The design and the responses are overwritten.
    """
    columns, rows = design.shape
    shown = _shown(design)
    _of_unit_weight(linear, design, weights, responses, shown)
    for j in range(columns):
        definite(precisions[j] > 0.0)
        noise = np.sqrt(precisions[j]) * rng.standard_normal()
        out[j] = (linear[j] + noise) / precisions[j]
    for i in range(rows):
        responses[i] -= rng.standard_normal()
    for j in shown:
        for i in range(rows):
            responses[i] -= design[j, i] * out[j]
    if len(shown) < rows:
        _add_by_columns(design, precisions, responses, shown, out)
    else:
        _add_by_rows(design, precisions, responses, shown, out)


@kernel
def _add_by_rows(
    design: Floats, precisions: Floats, responses: Floats, shown: Ints, out: Floats
) -> None:
    """Add to elements what the rows say of them, by a matrix of the order of the rows."""
    matrix = _of_rows(design, precisions, shown)
    definite(factorised(matrix))
    forward(matrix, responses)
    backward(matrix, responses)
    for j in shown:
        total = 0.0
        for i in range(len(responses)):
            total += design[j, i] * responses[i]
        out[j] += total / precisions[j]


@kernel
def _add_by_columns(
    design: Floats, precisions: Floats, responses: Floats, shown: Ints, out: Floats
) -> None:
    """Add to elements what the rows say of them, by their own matrix, ``D + F'F``, the smaller."""
    count, rows = len(shown), len(responses)
    matrix, away = np.empty((count, count)), np.empty(count)
    for s in range(count):
        one, total = design[shown[s]], 0.0
        for i in range(rows):
            total += one[i] * responses[i]
        away[s] = total
        for t in range(s + 1):
            other, total = design[shown[t]], 0.0
            for i in range(rows):
                total += one[i] * other[i]
            matrix[s, t] = total
        matrix[s, s] += precisions[shown[s]]
    definite(factorised(matrix))
    forward(matrix, away)
    backward(matrix, away)
    for s in range(count):
        out[shown[s]] += away[s]


@kernel
def _of_unit_weight(
    linear: Floats, design: Floats, weights: Floats, responses: Floats, shown: Ints
) -> None:
    """Rows and responses divided so that weights are one; without weight, in ``linear``."""
    rows = len(weights)
    for i in range(rows):
        if weights[i] > 0.0:
            weights[i] = np.sqrt(weights[i])
            responses[i] /= weights[i]
            continue
        for j in shown:
            linear[j] += responses[i] * design[j, i]
        responses[i] = 0.0
    for j in shown:
        for i in range(rows):
            design[j, i] *= weights[i]


@kernel
def _shown(design: Floats) -> Ints:
    """The elements that a row shows: not those of weights whose gates are shut.

    Rows are counted, not searched: a processor looks at several at once.
    """
    columns, rows = design.shape
    shown = np.empty(columns, np.int64)
    count = 0
    for j in range(columns):
        found = 0
        for i in range(rows):
            found += design[j, i] != 0.0
        if found > 0:
            shown[count] = j
            count += 1
    return shown[:count]


@kernel
def _of_rows(design: Floats, precisions: Floats, shown: Ints) -> Floats:
    """The matrix of the order of the rows, on and below its diagonal: four elements at a time."""
    rows, count = design.shape[1], len(shown)
    matrix = np.zeros((rows, rows))
    for i in range(rows):
        matrix[i, i] = 1.0
    for t in range(0, count - count % 4, 4):
        _add_four(matrix, design, precisions, shown[t : t + 4])
    for t in range(count - count % 4, count):
        j = shown[t]
        for i in range(rows):
            a = design[j, i] / precisions[j]
            for k in range(i + 1):
                matrix[i, k] += a * design[j, k]
    return matrix


@kernel
def _add_four(matrix: Floats, design: Floats, precisions: Floats, four: Ints) -> None:
    """Add what four elements contribute to the matrix of the rows."""
    at_a, at_b, at_c, at_d = design[four[0]], design[four[1]], design[four[2]], design[four[3]]
    for i in range(len(matrix)):
        a, b = at_a[i] / precisions[four[0]], at_b[i] / precisions[four[1]]
        c, d = at_c[i] / precisions[four[2]], at_d[i] / precisions[four[3]]
        for k in range(i + 1):
            matrix[i, k] += a * at_a[k] + b * at_b[k] + c * at_c[k] + d * at_d[k]
