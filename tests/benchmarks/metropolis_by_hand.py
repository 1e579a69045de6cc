"""Topics by Metropolis-Hastings steps in constant time a token, written by hand for Numba.

    python tests/benchmarks/metropolis_by_hand.py [topics] [seconds]

Labels given one another, shares and words integrated out; two proposals for each token, the label
of another token of its word or of its document, so that one factor of the ratio is the proposal's
own (J. Yuan and others 2015, "LightLDA", WWW; J. Chen and others 2016, "WarpLDA", VLDB). Run by
itself it prints the log likelihood after so many CPU seconds beside that of the generated sweep.
"""

# Paths are set before what reads them is imported.
# ruff: noqa: E402

import sys
from pathlib import Path
from time import process_time

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2])]

from loops_by_hand import loops

import gibbsppl as gp
from models import lda


def prepared(document, word, topics, seed=1):
    """Tokens by document and by word, labels dealt out at random, and the counts of these."""
    z = np.random.default_rng(seed).integers(topics, size=len(word))
    of_words = np.argsort(word, kind="stable")
    starts = [np.concatenate([[0], np.cumsum(np.bincount(x))]) for x in (document, word)]
    counts = [np.zeros((x.max() + 1, topics)) for x in (document, word)]
    for table, x in zip(counts, (document, word), strict=True):
        np.add.at(table, (x, z), 1)
    tokens = np.asarray(document), np.asarray(word), of_words, *starts
    return tokens, (z, *counts, np.bincount(z, minlength=topics).astype(float))


@loops
def topics(rng, tokens, state, prior, sweeps):
    """Sweeps over tokens that are sorted by document; ``prior`` of shares and of words."""
    document, word, of_words, of_document, of_word = tokens
    z, shares, words, totals = state
    alpha, eta = prior
    number, all_words = len(totals), eta * len(words)
    for _ in range(sweeps):
        for t in range(len(z)):
            d, w, now = document[t], word[t], z[t]
            shares[d, now] -= 1.0
            words[w, now] -= 1.0
            totals[now] -= 1.0
            for is_of_document in range(2):
                starts, at, smooth = (
                    (of_document, d, alpha) if is_of_document else (of_word, w, eta)
                )
                size = starts[at + 1] - starts[at]
                place = rng.random() * (size + number * smooth)
                if place < size:
                    other = starts[at] + int(place)
                    new = z[other if is_of_document else of_words[other]]
                else:
                    new = min(int((place - size) / smooth), number - 1)
                if new != now:
                    ratio = (totals[now] + all_words) / (totals[new] + all_words)
                    if is_of_document:
                        ratio *= (words[w, new] + eta) / (words[w, now] + eta)
                    else:
                        ratio *= (shares[d, new] + alpha) / (shares[d, now] + alpha)
                    if ratio >= 1.0 or rng.random() < ratio:
                        now = new
                        z[t] = now
            shares[d, now] += 1.0
            words[w, now] += 1.0
            totals[now] += 1.0


def main(number=100, seconds=3.0):
    """Log likelihoods of both after equal CPU seconds of sweeps."""
    corpus, rng = lda.reuters(), np.random.default_rng(1)
    tokens, state = prepared(*corpus[:2], number)
    topics(rng, tokens, state, (lda.ALPHA, lda.ETA), 1)
    sampler = gp.compile(lda.model(topics=number), **lda.WAYS["collapsed"])
    (chain,), _ = sampler.initial_states(1, 1)
    own = {n: np.array(x) for n, x in chain.state.items()}
    program = sampler.loops(keep=())
    runner, arguments = program.compiled(), program.arguments(rng, program.arrays_of(own), ())
    runner.sweep(arguments, 1)

    def by_hand():
        topics(rng, tokens, state, (lda.ALPHA, lda.ETA), 1)
        return state[0]

    def generated():
        runner.sweep(arguments, 1)
        return own["z"]

    for name, sweep in (("by hand", by_hand), ("generated", generated)):
        spent, sweeps, next_due = 0.0, 0, seconds / 8
        while spent < seconds:
            began = process_time()
            z = sweep()
            spent += process_time() - began
            sweeps += 1
            if spent >= next_due:
                found = lda.collapsed_log_likelihood(z, corpus, number)
                print(f"{name:12}{spent:8.2f} s{sweeps:8} sweeps{found:16,.0f}")
                next_due *= 2


if __name__ == "__main__":
    main(*(kind(x) for kind, x in zip((int, float), sys.argv[1:], strict=False)))
