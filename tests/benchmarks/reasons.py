"""Reasons for which another program is ahead, or gibbsppl ahead by less than is asked for: rows.

A row that is behind has to have one: the page is not written without. Each was found by measuring,
most by an edit of the generated text with all else left as it was; where nobody has measured why,
it is ``NOT_KNOWN``. Times are of the machine of the page, when it was quiet.
"""

from dataclasses import dataclass

NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason of a workload beside a peer, in a sentence without a capital or a stop."""

    key: str
    peer: str
    why: str


ROWS = (
    Reason(
        "Ising, 16 bits", "by hand",
        "16 bits of a hash decide for each spin, in vector instructions, where draws here are "
        "uniform numbers of NumPy's generator, one after the other; by hand with such numbers a "
        'sweep takes nearly as long as here (the row "Ising, uniform numbers")',
    ),
    Reason(
        "NumPy: Ising", "by hand",
        "more than half of a sweep adds up neighbours in an array of 64-bit integers of which "
        "every second one is read; by hand each colour is an array of bytes of its own, and 16 "
        "random bits decide for each spin (their 262,144 take 0.45 ms, uniform numbers 1.3)",
    ),
    Reason(
        "BPMF, K = 32", "smurff",
        "of 124 ms 99 are the sums over ratings of products of two factors, half of each symmetric "
        "table, four ratings at a time; draws of rows take 26",
    ),
    Reason(
        "factorisation machine, K = 10", "myfm",
        "of 8.2 ms the factors take 6.2, of which 2.2 fetch the residuals of a feature's rows out "
        "of their order, twice for each factor",
    ),
    Reason(
        "factorisation machine, K = 32", "myfm",
        "of 24 ms the factors take 19, of which 7.7 fetch the residuals of a feature's rows out "
        "of their order, twice for each factor",
    ),
    Reason(
        "factorisation machine with attributes, K = 10", "myfm",
        "a sweep takes 18 ms, 7.7 without the attributes: every feature is drawn from all of its "
        "rows, five features of each, where relation blocks add up rows by user and by item, and "
        "an attribute is drawn from tables of these",
    ),
    Reason(
        "stochastic volatility, T = 500", "NumPyro",
        "a sweep takes a sixth of the time of a draw of NUTS, but the precision of the steps is "
        "known more closely given the states, and given the standardised states that move along "
        "with it, than given the returns alone: 0.02 effective draws of each draw (0.045 where "
        "`phi` is known), NUTS 0.24; by hand, `phi` drawn once more with the noise of all steps "
        "held fixed makes it 0.03",
    ),
    Reason(
        "litters", "JAGS",
        "probabilities are integrated out of the two numbers of each Beta prior, which move along "
        "paths, with 0.02 effective draws a sweep: those of the second prior go between sizes near "
        "3 and near 2,000; the program for JAGS has a mean and a size in place of the numbers, by "
        "hand",
    ),
    Reason(
        "local level, T = 1000", "JAGS",
        "nearly all of the 21 us is the joint draw of the states, in which a division of each "
        "state waits for that of the state before",
    ),
    Reason(
        "rats 5000 x 20", "PyMC",
        "draws of NUTS are antithetic, so that each is worth 2.3 effective ones, of a sweep here "
        "0.8; of its 44 us 28 are 10,002 normal numbers",
    ),
    Reason(
        "regression 10000 x 50", "NumPyro",
        "a sweep, 8.3 us where a draw of NUTS takes 836, factorises a matrix of order 50 (43,000 "
        "of its 61,000 operations), which eigenvectors found once would save; draws of NUTS are "
        "antithetic, each worth 1.4 effective ones, of a sweep 0.9",
    ),
)  # fmt: skip
REASONS = {(row.key, row.peer): row.why for row in ROWS}
assert len(REASONS) == len(ROWS)
