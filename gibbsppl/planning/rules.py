"""The rules by which a plan is chosen where theory is silent: one table, with what was measured.

Effective draws are those of the worst element, an operation or a sweep; sizes of models stand in
the files named. What other modules compare with is a row here.

>>> print(RULES["least gain"])
least gain 1.1: another way than the one that rules prefer has to have so many times the effective
    draws an operation, by theory
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

WIDTH = 100


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """A number of the choices: what is done by it, and the measurements that it rests on."""

    name: str
    value: float
    says: str
    evidence: str

    def __str__(self) -> str:
        told = f"{self.name} {self.value:.2g}: {self.says}"
        return textwrap.fill(told, WIDTH, subsequent_indent=" " * 4)


_ROWS = (
    ChoiceRule(
        "most proposed", 8,
        "so many elements are proposed at once, whatever the data say of them, or more where each "
        "is read by at least as many outcomes as the square of their number",
        "Blocks of up to 25 effects and coefficients were drawn four to ten times as fast in "
        "seeds, salm, surgical; of the 22 of leukfr 6 % were accepted, and chains did not move. "
        "Of d coefficients of a logit with n outcomes 86 % were accepted at d*d/n = 0.1, 75 % at "
        "0.4, 57 % at 1, 41 % at 1.6, 23 % at 2, for d from 10 to 40.",
    ),
    ChoiceRule(
        "least accepted", 0.2,
        "of proposals such a share has to be accepted, by the weights of 64 at each state, that "
        "theory is asked how they mix",
        "Below it a few weights tell it, and every other step of a chain is one of a walk. In "
        "kidney and alli 0.20 and 0.15 were expected, of which short chains had accepted 0.60 and "
        "0.54, long ones 0.38 and 0.32, and had fewer effective draws than one by one. Of a "
        "series of 80 counts 0.45 were; two others like it had 6 and 21 times the effective draws "
        "an operation that they had one by one, and with its precision drawn, too, of which 0.36 "
        "were expected, 1.4 times. Sixty effects of counts and their level, which by theory mix "
        "as fast one by one, had a fifth of the effective draws an operation that they had so, the "
        "level drawn once more with the effects moving along.",
    ),
    ChoiceRule(
        "surely accepted", 0.59,
        "groups of which such a share is expected to be accepted are proposed first, others only "
        "where they have none of the variables of these",
        "States at which theory is asked are settled. In lips the effects are accepted with 0.72, "
        "and with a coefficient beside them with 0.57, which theory prefers; but from starts with "
        "a small precision those hardly move, and after 500 sweeps of warm-up chains had 0.008 "
        "effective draws a million operations, for 0.22 of the effects alone, 0.011 one by one. In "
        "ordered_probit, whose cut points and effects stay together, 0.60 are expected.",
    ),
    ChoiceRule(
        "least gain", 1.1,
        "another way than the one that rules prefer has to have so many times the effective draws "
        "an operation, by theory",
        "Theory is asked at a few states. Coefficients of pines drawn one after the other took "
        "0.95 times the operations, and had 0.8 times the effective draws, where theory found no "
        "difference.",
    ),
    ChoiceRule(
        "least share", 0.25,
        "operations are counted of ways with at least such a share of the effective draws",
        "Of 52 models of models/ the sweeps of none were made more than 2.3 times cheaper by "
        "drawing apart what rules join.",
    ),
    ChoiceRule(
        "slowest", 0.3,
        "a scale that is drawn once more with its group moving along is taken to have no more "
        "effective draws a sweep, and so is the slowest of more elements than a matrix has",
        "With auxiliary variables and without: 0.20 in seeds and blocker, 0.30 and 0.40 in "
        "surgical, 0.15 and 0.19 in lsat, 0.09 and 0.10 in oxford.",
    ),
    ChoiceRule(
        "most operations", 1.5,
        "with a number integrated out of moves without a closed form a sweep may take so many "
        "times the operations; or theory has to tell that moves of few numbers gain so many times "
        "the effective draws an operation, with an array integrated out, too",
        "With the level of dugongs integrated out the worst number had 16 times the effective "
        "draws an operation, at 1.45 times the operations a sweep, with the rate of pumps 1.7 "
        "times, at 1.15; its precision and slope had 1.0 and 1.4 times, at 1.5 and 1.7; at 2.4 "
        "times and above all had less. The size of counts had 9.6 times without their "
        "probability, of which theory told 27.",
    ),
    ChoiceRule(
        "often read", 100,
        "a group of more elements than a matrix for theory has is drawn apart from its location if "
        "others read each element so often",
        "In a factorisation of 900,000 ratings, K = 10, each factor of a user is read 149 times, "
        "and of an item 243 times: a sweep took 27 ms, and 37 ms with the means drawn jointly.",
    ),
    ChoiceRule(
        "least along a path", 3,
        "so many elements that slices would move one by one, each of which depends on each, move "
        "together along a path",
        "Three parameters of two exponentials had 4.7 times the effective draws a CPU second, four "
        "of a ratio of powers 23 times, three that are hardly tied 1.4 times; a pair 1.06 times, "
        "and two coordinates on a ring a thirty-sixth.",
    ),
    ChoiceRule(
        "share along a path", 0.05,
        "few numbers that would be moved one by one are taken to have such a share of an effective "
        "draw a sweep if they move together along a path, and do so where theory finds fewer an "
        "operation one by one",
        "Two numbers whose product is known had 4 times the effective draws an operation along a "
        "path at a correlation of 0.998, 0.9 times at 0.99, 0.2 times at 0.95; theory told 0.004, "
        "0.018 and 0.05 effective draws a sweep one by one, 0.003, 0.015 and 0.09 were found, and "
        "0.15 to 0.2 along paths. In litters, on two modes, 0.003 were found one by one, and 0.022 "
        "along paths, 4 times an operation.",
    ),
    ChoiceRule(
        "most elements", 100,
        "theory is asked of so many variables at most, or up to what a matrix has where several "
        "series are drawn jointly",
        "It is to be quick to compile; joint draws of several series are dear: of levels, slopes "
        "and seasons of 108 quarters a sweep took 2.9 times the operations that it took with each "
        "series at once.",
    ),
    ChoiceRule(
        "most of many", 200_000,
        "of so many variables, few of which are tied, theory is asked if there are more than a "
        "matrix for it has, and factors of at most ten times as many positions",
        "Of 5,000 rats with 20 weights each, and of 10,000 groups with a location, a joint draw "
        "took 2.9 and 3.2 times the operations, and had 1.00 times the effective draws of the "
        "slowest precision.",
    ),
)  # fmt: skip
RULES = {rule.name: rule for rule in _ROWS}
