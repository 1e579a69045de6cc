"""The rows of the table that ends a generated module: what is known of each step of its sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a sweep: its name, and the arrays that it changes.

    ``given_rest(s, c)`` is the function of its conditional: natural parameters, log weights, or a
    log density. Besides, where a step has them:

    - ``scaled(s, c)``: the scales and coefficients of a draw by fixed matrices that are
      diagonalised once
    - ``colours``: the name in ``c`` of the indices of the calls that draw it colour by colour
    - ``by_colour(s, c)``: for each such call the index and the parameters of the draw, where the
      state changes in between
    - ``interwoven(rng, s, c)``: a non-centred update, maybe together with other steps, which leaves
      no standardised array in the state
    - ``kept(s, c)``: the arrays that the step keeps up to date, computed anew
    - ``deferred``: the names of recorded values that it is carried out for, where nothing else
      reads what it draws before that is drawn anew
    - ``to_second_order(s, c)``: the gradient of the log density about whose mode it proposes, and
      halves of its second derivatives
    - ``is_walk``: it is a random walk

    >>> def x_given_rest(s, c): return 0.0, -0.5
    >>> Step("x", ("x",), x_given_rest).arrays
    ('x',)
    """

    name: str
    arrays: tuple[str, ...]
    given_rest: Callable[..., Any]
    scaled: Callable[..., Any] | None = None
    colours: str | None = None
    by_colour: Callable[..., Any] | None = None
    interwoven: Callable[..., Any] | None = None
    kept: Callable[..., Any] | None = None
    deferred: tuple[str, ...] | None = None
    to_second_order: Callable[..., Any] | None = None
    is_walk: bool = False
