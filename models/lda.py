"""LDA: documents as mixtures of topics, topics as distributions over words.

    z[t] ~ Categorical(theta[doc[t]]),   word[t] ~ Categorical(phi[z[t]])
    theta[d, :] ~ Dirichlet(alpha),      phi[k, :] ~ Dirichlet(eta)

From D. M. Blei, A. Y. Ng and M. I. Jordan (2003), "Latent Dirichlet allocation", Journal of Machine
Learning Research 3, 993-1022; also J. K. Pritchard, M. Stephens and P. Donnelly (2000), "Inference
of population structure using multilocus genotype data", Genetics 155, 945-959, with Gibbs sampling.
This is the naive sampler with its three conditionals: nothing is integrated out.

The corpus, ``reuters()``, is of 395 news stories, 84,010 words of 4,258 kinds; ``bars()`` is a
small made-up one. Topics can be renamed without any change to the density: look at the likelihood
with the labels summed out.
"""

import numpy as np

import gibbsppl as gp
from models.reuters import tokens as reuters

# Pointer: tests/references/lda.py is an independent sampler. From the same start the likelihood
# after a number of sweeps is compared, between chains, with this one's.
REFERENCE = {}

ALPHA, ETA = 0.1, 0.01


def bars(rng=None, documents=12, length=40, side=3, alpha=ALPHA):
    """A made-up corpus: words are the cells of a square, topics are its rows and columns.

    T. L. Griffiths and M. Steyvers (2004), "Finding scientific topics", Proceedings of the National
    Academy of Sciences 101, 5228-5235, figure 1.
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
