"""Poisson tensor factorisation: how often words appear, by country and month, as sums of topics.

    counts[c, m, w] ~ Poisson(sum over k of country[c, k] * month[m, k] * word[w, k])

with Gamma distributions of all three factors: A. Schein, J. Paisley, D. M. Blei and H. Wallach
(2015), "Bayesian Poisson tensor factorization for inferring multilateral relations from sparse
dyadic event counts", Knowledge Discovery and Data Mining. There the counts are of countries that
act on countries; here, of the words of the Reuters stories (``reuters``), by the country that a
story comes from and by its month. Country and month stand in the titles, which are in the package
``lda``, version 3.0.2 (``reuters.titles``; Mozilla Public License 2.0); left out are five stories
without a date, and four of which the date is earlier than the whole collection.

Topics can be renamed, and scales moved from factor to factor: look at the rates of cells, which
know of neither.
"""

import csv
from pathlib import Path

import numpy as np

import gibbsppl as gp
from models import reuters

MONTHS = (*(f"1996-{m:02}" for m in range(8, 13)), *(f"1997-{m:02}" for m in range(1, 9)))
_FILE = Path(__file__).parent / "data" / "reuters_places.csv"

# Cells whose rates are compared: (country, month, word).
CELLS = (
    ("FRANCE", "1996-09", "pope"),
    ("UK", "1996-08", "charles"),
    ("UK", "1996-08", "people"),
    ("INDIA", "1997-03", "teresa"),
    ("RUSSIA", "1996-11", "president"),
    ("USA", "1997-02", "pope"),
)

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/poisson_tensor.py), a random walk that splits no counts.
REFERENCE = {
    "log likelihood": (2114.062972, 0.049625),
    "FRANCE 1996-09 pope": (1.198634, 0.001615),
    "UK 1996-08 charles": (7.143311, 0.005877),
    "UK 1996-08 people": (4.878514, 0.005143),
    "INDIA 1997-03 teresa": (48.067698, 0.039149),
    "RUSSIA 1996-11 president": (1.653287, 0.001522),
    "USA 1997-02 pope": (2.685826, 0.003138),
}


def places():
    """The country and the month of each story; the month is empty where the title has no date."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        return [(row["country"], row["month"]) for row in csv.DictReader(file)]


def tensor(countries=5, words=20):
    """The counts by country, month and word; and the names of the countries and words.

    Of the ``countries`` that most stories come from, in alphabetical order, and of the ``words``
    words that are most frequent.
    """
    from_, month = np.array(places()).T
    names, stories = np.unique(from_[np.isin(month, MONTHS)], return_counts=True)
    names = sorted(map(str, names[np.argsort(-stories, kind="stable")[:countries]]))
    table, vocabulary = reuters.table(words=words)
    counts = np.zeros((countries, len(MONTHS), words), dtype=int)
    for story in np.flatnonzero(np.isin(from_, names) & np.isin(month, MONTHS)):
        counts[names.index(from_[story]), MONTHS.index(month[story])] += table[story]
    return counts, names, vocabulary


def model(counts=None, topics=2, shape=0.5, rate=0.5, countries=5, words=20):
    """The topics of ``counts`` (country, month, word); else of the Reuters stories."""
    names = months = vocabulary = None
    if counts is None:
        counts, names, vocabulary = tensor(countries, words)
        months = MONTHS
    given = dict(zip(("from", "in", "vocab"), (names, months, vocabulary), strict=True))
    coords = {
        dim: range(size) if given[dim] is None else given[dim]
        for dim, size in zip(given, np.shape(counts), strict=True)
    }
    with gp.Model(coords=coords | {"topic": range(topics)}) as factorisation:
        country = gp.Gamma("country", shape, rate=rate, dims=("from", "topic"))
        month = gp.Gamma("month", shape, rate=rate, dims=("in", "topic"))
        word = gp.Gamma("word", shape, rate=rate, dims=("vocab", "topic"))
        rates = (country * month * word).sum("topic")
        gp.Poisson("counts", rates, dims=tuple(given), observed=counts)
    return factorisation


def rates(draws):
    """How many words are expected in each cell: (chain, draw, country, month, word)."""
    factors = (draws[name] for name in ("country", "month", "word"))
    return np.einsum("...ck,...mk,...wk->...cmw", *factors)


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return _of_rates(rates(draws))


def _of_rates(expected):
    counts, names, vocabulary = tensor()
    fit = (counts * np.log(expected) - expected).sum(axis=(-1, -2, -3))
    found = {"log likelihood": fit}
    for country, month, word in CELLS:
        at = names.index(country), MONTHS.index(month), vocabulary.index(word)
        found[f"{country} {month} {word}"] = expected[(..., *at)]
    return found
