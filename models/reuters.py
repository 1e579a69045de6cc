"""Reuters: the word counts of 395 news stories, 84,010 words of 4,258 kinds, which models share.

The stories are of August 1996 to August 1997, the year of the collection RCV1 (D. D. Lewis, Y.
Yang, T. G. Rose and F. Li (2004), "RCV1: a new benchmark collection for text categorization
research", Journal of Machine Learning Research 5, 361-397). The counts are those of the package
``lda``, version 3.0.2 (``reuters.ldac`` and ``reuters.tokens``; Mozilla Public License 2.0),
without the titles of the stories. The file has, for each count that is not 0, how far it is from
the one before when the table is read row by row.
"""

from pathlib import Path

import numpy as np

_FILE = Path(__file__).parent / "data" / "reuters.npz"


def counts(documents=None, words=None):
    """The counts that are not 0 as (document, word, count), and the vocabulary.

    Of the first ``documents`` stories, and of the ``words`` words that are most frequent in them,
    in their old order; all of them if ``None``.
    """
    with np.load(_FILE) as file:
        place, count = file["gap"].cumsum(dtype=int), file["count"].astype(int)
        vocabulary = bytes(file["vocabulary"]).decode().split("\n")
    document, word = np.divmod(place, len(vocabulary))
    early = document < (np.inf if documents is None else documents)
    document, word, count = document[early], word[early], count[early]
    totals = np.bincount(word, count, minlength=len(vocabulary))
    chosen = np.sort(np.argsort(-totals, kind="stable")[:words])
    kept = np.isin(word, chosen)
    places = np.searchsorted(chosen, word[kept])
    return document[kept], places, count[kept], [vocabulary[w] for w in chosen]


def table(documents=None, words=None):
    """The counts as a table, a row for each story, and the vocabulary."""
    document, word, count, vocabulary = counts(documents, words)
    dense = np.zeros((document.max() + 1, len(vocabulary)), int)
    dense[document, word] = count
    return dense, vocabulary


def tokens():
    """Every word of every story: its document and its place in the vocabulary, and the latter."""
    document, word, count, vocabulary = counts()
    return np.repeat(document, count), np.repeat(word, count), vocabulary
