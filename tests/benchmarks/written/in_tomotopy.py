"""Topics by tomotopy: labels given one another, shares and words integrated out."""

from iterations import going_on
from tomotopy import LDAModel

PACKAGES = ("tomotopy",)
ALPHA, ETA, FIRST = 0.1, 0.01, 60


def topics(data):
    """Sweeps that go on after sixty."""
    document, word, vocabulary = data["document"], data["word"], data["vocabulary"].tolist()
    model = LDAModel(k=int(data["topics"]), alpha=ALPHA, eta=ETA, seed=1)
    model.optim_interval = 0
    for d in range(max(document) + 1):
        model.add_doc([vocabulary[w] for w in word[document == d]])
    model.train(FIRST, workers=1)
    return going_on(lambda count: model.train(count, workers=1))


WORKLOADS = {f"topics, K = {k}": topics for k in (20, 100, 1000)}
