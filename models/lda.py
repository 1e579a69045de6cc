"""LDA: documents as mixtures of topics, topics as distributions over words.

    z[t] ~ Categorical(theta[doc[t]]),   word[t] ~ Categorical(phi[z[t]])
    theta[d, :] ~ Dirichlet(alpha),      phi[k, :] ~ Dirichlet(eta)

From D. M. Blei, A. Y. Ng and M. I. Jordan (2003), "Latent Dirichlet allocation", Journal of Machine
Learning Research 3, 993-1022; also J. K. Pritchard, M. Stephens and P. Donnelly (2000), "Inference
of population structure using multilocus genotype data", Genetics 155, 945-959, with Gibbs sampling.

``WAYS`` are samplers of this model: the naive one of its three conditionals; with shares and words
of topics integrated out, T. L. Griffiths and M. Steyvers (2004), "Finding scientific topics",
Proceedings of the National Academy of Sciences 101, 5228-5235; with the shares alone; and all
labels at once from what all of them were before, near to the posterior but not it. A fifth way to
get at topics is `from_assignments`: no draw of them is needed where the labels are known.

The corpus, ``reuters()``, is of 395 news stories, 84,010 words of 4,258 kinds; ``bars()`` is a
small made-up one. Topics can be renamed without any change to the density: look at the likelihood
with the labels summed out.
"""

from time import process_time

import numpy as np
from scipy.special import gammaln

import gibbsppl as gp
from models.reuters import tokens as reuters

# Pointer: tests/references/lda.py is an independent sampler. From the same start the likelihood
# after a number of sweeps is compared, between chains, with this one's.
REFERENCE = {}

ALPHA, ETA = 0.1, 0.01

# Names of samplers, and what makes them: keyword arguments of gp.compile.
WAYS = {
    "naive": {},
    "collapsed": {"collapse": ("theta", "phi")},
    "partially collapsed": {"collapse": ("theta",)},
    "approximately collapsed": {"collapse": ("theta", "phi"), "approximate": True},
}


def bars(rng=None, documents=12, length=40, side=3, alpha=ALPHA):
    """A made-up corpus: words are the cells of a square, topics are its rows and columns.

    Griffiths and Steyvers (2004), figure 1.
    """
    rng = np.random.default_rng(1) if rng is None else rng
    cells = np.arange(side**2).reshape(side, side)
    topics = np.concatenate([cells, cells.T])
    shares = rng.dirichlet(np.full(2 * side, alpha), size=documents)
    topic = [rng.choice(2 * side, size=length, p=share) for share in shares]
    word = topics[np.concatenate(topic), rng.integers(side, size=documents * length)]
    vocabulary = [f"cell {r},{c}" for r in range(side) for c in range(side)]
    return np.repeat(np.arange(documents), length), word, vocabulary


def model(corpus=None, topics=20, alpha=ALPHA, eta=ETA):
    """The topics of ``corpus``: (document of each token, its word, the vocabulary)."""
    if corpus is None:
        corpus = reuters()
    document, word, vocabulary = corpus
    coords = {"doc": range(max(document) + 1), "topic": range(topics), "vocab": vocabulary}
    with gp.Model(coords=coords | {"token": range(len(word))}) as allocation:
        doc = gp.Index("doc_of", document, of="doc", dims="token")
        theta = gp.Dirichlet("theta", alpha, dims=("doc", "topic"), event="topic")
        phi = gp.Dirichlet("phi", eta, dims=("topic", "vocab"), event="vocab")
        z = gp.Categorical("z", theta[doc], dims="token", event="topic")
        gp.Categorical("word", phi[z], dims="token", event="vocab", observed=word)
    return allocation


def log_likelihood(theta, phi, document, word):
    """The log probability of the tokens given one draw of ``theta`` and ``phi``."""
    return np.log(np.einsum("tk,kt->t", theta[document], phi[:, word])).sum()


def quantities(draws, corpus):
    """The log likelihood of the corpus, labels summed out, as an array over (chain, draw)."""
    document, word, _ = corpus
    kept = draws["theta"].shape[:2]
    fit = [
        log_likelihood(draws["theta"][i], draws["phi"][i], document, word) for i in np.ndindex(kept)
    ]
    return {"log likelihood": np.reshape(fit, kept)}


# ---- labels alone: shares and words of topics integrated out ---------------------------------


def tables(z, corpus, topics):
    """How many tokens of each document have each topic, and how many of each topic each word."""
    document, word, vocabulary = corpus
    shares = np.zeros((max(document) + 1, topics))
    words = np.zeros((topics, len(vocabulary)))
    np.add.at(shares, (document, z), 1)
    np.add.at(words, (z, word), 1)
    return shares, words


def collapsed_log_likelihood(z, corpus, topics=20, alpha=ALPHA, eta=ETA):
    """The value of log p(w, z), ``theta`` and ``phi`` integrated out (Griffiths and Steyvers).

    A sum over rows of counts ``n``, documents and topics, of log Gamma(K a) - K log Gamma(a)
    + sum over k of log Gamma(n[k] + a) - log Gamma(K a + sum over k of n[k]).
    """
    shares, words = tables(z, corpus, topics)
    return float(_log_integral(shares, alpha) + _log_integral(words, eta))


def _log_integral(counts, a):
    rows, size = counts.shape
    constant = rows * (gammaln(size * a) - size * gammaln(a))
    return constant + gammaln(counts + a).sum() - gammaln(counts.sum(axis=1) + size * a).sum()


def from_assignments(draws, corpus, topics=20, alpha=ALPHA, eta=ETA):
    """Point estimates of ``theta`` and ``phi`` from labels alone, with chains as the first axis.

    The mean given the labels is (n[k] + a) / (sum of n + K a); it is averaged over the draws of a
    chain, never over chains, whose topics have other names.
    """
    found = []
    for chain in draws["z"]:
        counts = [tables(z, corpus, topics) for z in chain]
        theta = np.mean([_smoothed(shares, alpha) for shares, _ in counts], axis=0)
        phi = np.mean([_smoothed(words, eta) for _, words in counts], axis=0)
        found.append((theta, phi))
    theta, phi = zip(*found, strict=True)
    return np.stack(theta), np.stack(phi)


def _smoothed(counts, a):
    """The mean of probabilities whose prior is a Dirichlet with all parameters ``a``."""
    return (counts + a) / (counts + a).sum(axis=1, keepdims=True)


def perplexity(theta, phi, document, word):
    """How many equally probable words would be as hard to guess, per token."""
    return float(np.exp(-log_likelihood(theta, phi, document, word) / len(word)))


def held_out(corpus, every=10):
    """The corpus without each ``every``-th of its tokens, and these: (documents, words)."""
    document, word, vocabulary = corpus
    out = np.arange(len(word)) % every == every - 1
    kept = np.asarray(document)[~out], np.asarray(word)[~out], vocabulary
    return kept, (np.asarray(document)[out], np.asarray(word)[out])


# ---- the ways side by side -------------------------------------------------------------------


def dealt(corpus, topics=20):
    """A start that is the same for all ways: topics dealt out in turn, all of them alike."""
    document, word, vocabulary = corpus
    return {
        "z": np.arange(len(word)) % topics,
        "theta": np.full((max(document) + 1, topics), 1 / topics),
        "phi": np.full((topics, len(vocabulary)), 1 / len(vocabulary)),
    }


def followed(way, corpus, sweeps, topics=20, seed=1):
    """The draws of one chain from `dealt`, and the milliseconds (CPU) of a sweep."""
    sampler = gp.compile(model(corpus=corpus, topics=topics), **WAYS[way])
    run = {"chains": 1, "warmup": 0, "seed": seed, "progress": False, "keep": ["z"]}
    run["init"] = dealt(corpus, topics)
    sampler.sample(draws=1, **run)  # compiles the scan
    started = process_time()
    draws = sampler.sample(draws=sweeps, **run)
    return draws, 1000 * (process_time() - started) / sweeps


def compared(sweeps=200, last=50, topics=20, seed=1):
    """For each way: the collapsed log likelihood by sweep, and a row of numbers."""
    kept, out = held_out(reuters())
    lines, rows = {}, {}
    for way in WAYS:
        draws, milliseconds = followed(way, kept, sweeps, topics, seed)
        fit = [collapsed_log_likelihood(z, kept, topics) for z in draws["z"][0]]
        lines[way] = fit
        rows[way] = {
            "ms per sweep": milliseconds,
            "log p(w, z)": fit[-1],
            "perplexity, last draw": _perplexity({"z": draws["z"][:, -1:]}, kept, out, topics),
            "perplexity, averaged": _perplexity({"z": draws["z"][:, -last:]}, kept, out, topics),
        }
    return lines, rows


def _perplexity(draws, kept, out, topics):
    theta, phi = from_assignments(draws, kept, topics)
    return perplexity(theta[0], phi[0], *out)


def plot(path, lines):
    """A picture of the collapsed log likelihood of each way against sweeps, as a file."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (only a picture needs it)

    figure = Figure(figsize=(6.5, 4), dpi=80, layout="constrained")
    axes = figure.add_subplot()
    for (way, fit), style in zip(lines.items(), ("-", "-", "--", ":"), strict=False):
        axes.plot(range(1, len(fit) + 1), np.divide(fit, 1000), style, label=way)
    axes.set(xlabel="sweeps", ylabel="log p(w, z), thousands", xscale="log")
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(path)
