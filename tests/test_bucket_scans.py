"""Scans by buckets: labels are drawn from their conditionals, with what lists and trees have."""

import copy
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from kernels_called import Called
from scipy.special import gammaln, logsumexp
from test_collapsing import NAMED
from test_collapsing import compiled as sampler_of
from test_loops_of_scans import mutants

import gibbsppl as gp
from gibbsppl.code.arrays.statements import Add, Draw, Loop, Store
from gibbsppl.code.arrays.sweeps import every
from gibbsppl.code.costs import worth_of
from gibbsppl.code.loop_program import LoopProgram, Runner
from gibbsppl.code.loop_text.loading import plain
from gibbsppl.code.lowering import buckets, scans
from gibbsppl.runtime.kernel_costs import Time
from gibbsppl.runtime.loops import buckets as kernels
from models import lda


@pytest.fixture
def forced(monkeypatch):
    """Scans go by buckets wherever they can; the buckets that there were."""
    found = []
    monkeypatch.setattr(scans, "are_worth_it", lambda buckets, size: not found.append(buckets))
    return found


# ---- kernels -----------------------------------------------------------------------------------


class Given:
    """A stream of numbers that are known."""

    def __init__(self, *values):
        self.values = iter(values)

    def random(self):
        return next(self.values)


def tree_of(rest):
    tree = np.concatenate([np.zeros(len(rest)), rest])
    kernels.tree_of_sums(tree)
    return tree


def list_of(counts):
    """The entries of the list of a group, with one of another list on either side, and how many."""
    own = [n << kernels.LABEL_BITS | k for k, n in counts.items()]
    return np.array([kernels.ONE_MORE, *own, kernels.ONE_MORE]), np.array([0, len(own)])


def counts_in(entries, first, length):
    """The counts of the labels of a list."""
    own = [int(e) for e in entries[first : first + length]]
    found = {e & kernels.LAST_BITS: e >> kernels.LABEL_BITS for e in own}
    assert len(found) == length
    return found


def leaves_in_order(size):
    """The labels in the order in which a draw passes them."""

    def below(node):
        return [node - size] if node >= size else [*below(2 * node), *below(2 * node + 1)]

    return below(1)


def pieces_of(base, first, group, now, entries, used, tree):
    """The labels of the list, then those of the tree, with their weights in order."""
    size = len(tree) // 2
    counts = counts_in(entries, first, used[group])
    found = [(k, (n - (k == now)) * tree[size + k]) for k, n in counts.items()]
    own = base if any(weight for _, weight in found) else 1.0
    return found + [(k, own * tree[size + k]) for k in leaves_in_order(size)]


def weights_of(size, pieces):
    return np.array([sum(w for k, w in pieces if k == label) for label in range(size)])


def shares_of(pieces):
    """For each piece of some weight its label, with numbers that fall on it."""
    ends = np.cumsum([w for _, w in pieces])
    for (k, weight), end in zip(pieces, ends, strict=True):
        for inside in (0.5, 0.001, 0.999) if weight else ():
            yield k, (end - weight * inside) / ends[-1]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 64, 100])
def test_a_tree_has_the_sums_of_its_weights(size):
    rng = np.random.default_rng(size)
    tree, other = tree_of(rng.gamma(0.3, size=size)), np.zeros(2 * size)
    other[size:] = tree[size:]
    for _ in range(200):
        k, weight = int(rng.integers(size)), rng.gamma(0.3) * rng.integers(2)
        kernels.weight_in_tree(k, weight, tree)
        other[size + k] = weight
        kernels.tree_of_sums(other)

    np.testing.assert_array_equal(tree[1:], other[1:])
    np.testing.assert_allclose(tree[1], tree[size:].sum(), rtol=1e-13)


def some_weights(size):
    """What a kernel reads: a base, a list of a group, one of its labels, a tree with some zeros."""
    rng = np.random.default_rng(size)
    rest = rng.gamma(0.5, size=size) * (rng.random(size) < 0.8)
    rest[0] = 0.2
    listed = rng.permutation(size)[: (size + 1) // 2]
    counts = {int(k): int(rng.integers(1, 4)) for k in listed}
    entries, used = list_of(counts)
    return 0.3, 1, 1, int(listed[0]), entries, used, tree_of(rest)


@pytest.mark.parametrize("size", [1, 2, 6, 37])
def test_a_uniform_number_falls_on_labels_by_their_weights(size):
    """The unit interval is cut into the weights of the list, then those of the tree."""
    given = some_weights(size)
    for k, share in shares_of(pieces_of(*given)):
        assert kernels.label_in_buckets(Given(share), *copy.deepcopy(given)) == k


def test_lists_follow_the_labels_that_are_drawn():
    """Elements come into the lists of three groups; then each gets one label after the other."""
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], sizes := (7, 1, 30))
    label = rng.integers(9, size=len(group))
    entries, used, firsts = np.zeros(len(group), int), np.zeros(3, int), np.cumsum([0, *sizes])
    places, tree = np.zeros(9, int), tree_of(rng.gamma(1.0, size=9))
    for g, k in zip(group, label, strict=True):
        kernels.one_listed(firsts[g], g, k, entries, used, places)
    for _ in range(2000):
        for g, first in enumerate(firsts[:3]):
            wanted = Counter(label[group == g].tolist())
            assert counts_in(entries, first, used[g]) == wanted
        n = int(rng.integers(len(group)))
        g = group[n]
        given = entries, used, tree
        label[n] = kernels.label_in_buckets(rng, 0.5, firsts[g], g, label[n], *given)


@pytest.mark.parametrize("size", [1, 2, 6, 37])
def test_compiled_kernels_draw_what_plain_ones_draw(size):
    pytest.importorskip("numba")
    compiled_kernels = Called("buckets")
    kept = [copy.deepcopy(some_weights(size)) for _ in range(2)]
    streams = [np.random.default_rng(size) for _ in range(2)]
    for _ in range(200):
        sides = zip((kernels, compiled_kernels), streams, kept, strict=True)
        found = {module.label_in_buckets(s, *given) for module, s, given in sides}
        assert len(found) == 1
        kept = [(*own[:3], *found, *own[4:]) for own in kept]
        np.testing.assert_array_equal(kept[0][4], kept[1][4])


@pytest.mark.parametrize("share", [0.0, 0.3, 1 - 2**-53])
def test_what_all_weights_have_in_common_may_be_tiny(share):
    tree, (entries, used) = tree_of(np.array([0.0, 1e-300, 0.0, 3e-300, 0.0])), list_of({2: 1})
    given = 1e-300, 1, 1, 2, entries, used, tree
    assert kernels.label_in_buckets(Given(share), *given) in (1, 3)


@pytest.mark.parametrize("share", [0.0, 0.5, 1 - 2**-53])
def test_a_list_may_have_all_the_weight(share):
    tree, (entries, used) = tree_of(np.array([0.0, 0.7, 1.0])), list_of({0: 3, 2: 1})
    assert kernels.label_in_buckets(Given(share), 1e-300, 1, 1, 0, entries, used, tree) == 2


@pytest.mark.parametrize("rest", [[0.0, 0.0], [np.inf, 1.0], [np.nan, 1.0]])
def test_weights_that_are_none_are_refused(rest):
    entries, used = list_of({0: 1})
    given = 1.0, 1, 1, 0, entries, used, tree_of(np.array(rest))
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="probability zero"):
        kernels.label_in_buckets(Given(0.5), *given)


# ---- scans -------------------------------------------------------------------------------------


PRIORS = {"alpha": ("doc", "k"), "eta": ("k", "vocab")}


class Words:
    """Words of labels, in documents or all in one: a model, and its conditionals by counting.

    ``alpha`` and ``eta`` are numbers, or arrays over ``dims_of_alpha`` and ``dims_of_eta``.
    """

    def __init__(self, document, word, size, names=("theta", "phi"), **given):
        self.document, self.word = np.asarray(document), np.asarray(word)
        self.size, self.names = size, names
        self.sizes = {"doc": self.document.max() + 1, "k": size, "vocab": self.word.max() + 1}
        self.dims = {n: given.pop(f"dims_of_{n}", ()) for n in PRIORS}
        self.given = {"alpha": 0.1, "eta": 0.02} | given
        for name, whole in PRIORS.items():
            own = np.asarray(self.given[name], float)
            axes = [self.sizes[d] if d in self.dims[name] else 1 for d in whole]
            full = own.reshape(axes) + np.zeros([self.sizes[d] for d in whole])
            setattr(self, name, full)

    def prior(self, name):
        """What is declared: a number, or data."""
        value, dims = np.asarray(self.given[name], float), self.dims[name]
        shaped = value.reshape([self.sizes[d] for d in dims])
        return gp.Data(name, shaped, dims=dims) if dims else float(value)

    def model(self):
        with gp.Model(
            coords={n: int(s) for n, s in self.sizes.items()} | {"n": len(self.word)}
        ) as m:
            own = ("doc", "k") if self.sizes["doc"] > 1 else "k"
            theta = gp.Dirichlet("theta", self.prior("alpha"), dims=own, event="k")
            phi = gp.Dirichlet("phi", self.prior("eta"), dims=("k", "vocab"), event="vocab")
            if self.sizes["doc"] > 1:
                theta = theta[gp.Index("doc_of", self.document, of="doc", dims="n")]
            z = gp.Categorical("z", theta, dims="n", event="k")
            gp.Categorical("word", phi[z], dims="n", event="vocab", observed=self.word)
        return m

    def order(self, buckets):
        """The order in which elements are drawn."""
        if buckets.within is None:
            return np.arange(len(self.word))
        by_words = buckets.within.axis.name == "vocab"
        return np.argsort(self.word if by_words else self.document, kind="stable")

    def log_density(self, z):
        """The log density of labels, but for a constant: shares and words integrated out."""
        shares, words = np.zeros_like(self.alpha), np.zeros_like(self.eta)
        np.add.at(shares, (self.document, z), 1)
        np.add.at(words, (z, self.word), 1)
        return sum(
            (gammaln(n + a).sum(axis=1) - gammaln((n + a).sum(axis=1))).sum()
            for n, a in ((shares, self.alpha), (words, self.eta))
        )

    def conditional(self, state, n):
        """The probabilities of the label of an element, given those of the others."""
        z, here, word = state["z"].ravel(), self.document[n], self.word[n]
        others = np.arange(len(z)) != n
        of_document, of_word, every = (
            np.bincount(z[kept], minlength=self.size)
            for kept in (others & (self.document == here), others & (self.word == word), others)
        )
        logs = np.log(of_document + self.alpha[here])
        if "theta" not in self.names:
            logs = np.log(state["theta"][here])
        if "phi" in self.names:
            logs += np.log(of_word + self.eta[:, word]) - np.log(every + self.eta.sum(axis=1))
        else:
            logs += np.log(state["phi"][:, word])
        return np.exp(logs - logsumexp(logs))


def of_words(size=5, *, is_sorted=True, seed=1, **given):
    rng = np.random.default_rng(seed)
    document, word = rng.integers(4, size=24), rng.integers(6, size=24)
    document[0], word[-1] = 4, 5  # (one token alone; all kinds of words)
    return Words(np.sort(document) if is_sorted else document, word, size, **given)


SHARES, SPREAD = [0.1, 0.7, 1.4, 0.3, 2.0], [0.1, 0.7, 1.4, 0.3, 2.0, 0.01]
TABLE = np.random.default_rng(1).gamma(1.0, size=30)

CASES = {
    "topics": of_words(),
    "documents in any order": of_words(is_sorted=False),
    "one topic": of_words(1),
    "two topics": of_words(2),
    "many topics": of_words(40),
    "shares by topic": of_words(alpha=SHARES, dims_of_alpha=["k"]),
    "shares by document": of_words(alpha=SHARES, dims_of_alpha=["doc"]),
    "shares by topic in each document": of_words(
        alpha=TABLE[:25], dims_of_alpha=["doc", "k"], is_sorted=False
    ),
    "words by word": of_words(eta=SPREAD, dims_of_eta=["vocab"]),
    "words by topic": of_words(eta=SHARES, dims_of_eta=["k"]),
    "words by word in each topic": of_words(eta=TABLE, dims_of_eta=["k", "vocab"]),
    "shares that are drawn": of_words(names=("phi",), is_sorted=False),
    "words of topics that are drawn": of_words(names=("theta",)),
    "priors of almost zero": of_words(alpha=1e-300, eta=1e-200),
    "documents of two words": Words(np.arange(20) // 2, np.arange(20) % 3, 7),
    "words of one document": Words(np.zeros(15, int), np.arange(15) % 4, 4, alpha=0.4, eta=0.3),
}


class Drawn:
    """Sweeps of plain loops whose draws are noted, or chosen by a script of labels."""

    def __init__(self, program, script=None):
        self.program, self.script = program, script
        self.scope = plain(program.module)
        self.own = self.scope["label_in_buckets"]
        self.scope["label_in_buckets"] = self.drawn
        self.found, self.arrays, self.probability = [], None, 1.0

    def drawn(self, rng, *given):
        *_, entries, used, tree = given
        sums = tree[2::2] + tree[3::2]
        np.testing.assert_array_equal(tree[1 : len(sums) + 1], sums)
        pieces = pieces_of(*given)
        weights = weights_of(len(tree) // 2, pieces)
        probabilities = weights / weights.sum()
        self.found.append((copy.deepcopy(self.arrays), probabilities))
        self.lists = entries, used
        if self.script is None:
            return self.own(rng, *given)
        label = next(self.script)
        self.probability *= probabilities[label]
        share = next(share for k, share in shares_of(pieces) if k == label)
        return self.own(Given(share), *given)

    def sweep(self, state, rng, sweeps=1):
        """Labels after sweeps from a state."""
        self.arrays = self.program.arrays_of(copy.deepcopy(state))
        arguments = self.program.arguments(rng, self.arrays, ())
        Runner(self.program, self.scope["run"]).sweep(arguments, sweeps)
        return self.arrays["z"]


def sampler_for(case):
    return gp.compile(case.model(), collapse=case.names)


def started(case, shape=None, seed=3):
    """A state, and a stream to go on from."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.ones(case.size), size=int(case.sizes["doc"]))
    phi = rng.dirichlet(np.ones(int(case.sizes["vocab"])), size=case.size)
    z = rng.integers(case.size, size=len(case.word)).reshape(shape or -1)
    return {"z": z, "theta": theta if len(theta) > 1 else theta[0], "phi": phi}, rng


def is_by_buckets(program):
    kernels_of = {s.kernel for s in every(program.sweep_value.statements) if isinstance(s, Draw)}
    return "label_in_buckets" in kernels_of


def farthest(case, buckets, program, state, rng, sweeps=3):
    """How far the probabilities of draws are from the conditionals."""
    drawn = Drawn(program)
    drawn.sweep(state, rng, sweeps)
    wanted = [*case.order(buckets)] * sweeps
    pairs = zip(wanted, drawn.found, strict=True)
    return max(np.abs(p - case.conditional(state, n)).max() for n, (state, p) in pairs)


@pytest.mark.parametrize("name", CASES)
def test_labels_are_drawn_from_their_conditional(name, forced):
    case = CASES[name]
    sampler = sampler_for(case)
    program = sampler.loops()
    assert is_by_buckets(program)

    assert farthest(case, *forced, program, *started(case)) < 1e-12


@pytest.mark.parametrize("is_anew", [True, False])
@pytest.mark.parametrize("name", ["topics", "documents in any order", "documents of two words"])
def test_groups_come_into_the_tree_whole_or_by_their_counts(name, is_anew, forced, monkeypatch):
    cost = 0.0 if is_anew else 1.0
    monkeypatch.setattr(buckets, "SPARSE_SCAN", Time(0.0, (1e-9, 1e-12, cost)))
    case = CASES[name]
    sampler = sampler_for(case)
    program = sampler.loops()

    assert [b.is_anew for b in forced] == [is_anew]
    assert farthest(case, *forced, program, *started(case)) < 1e-12


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize("is_of_documents", [True, False])
def test_a_sweep_leaves_the_posterior_of_labels_as_it_is(is_of_documents):
    """The matrix of a sweep, from the probabilities of all paths that draws may take."""
    documents = [1, 0, 0, 1] if is_of_documents else [0] * 4
    given = {"alpha": [0.3, 0.9], "dims_of_alpha": ["k"], "eta": [0.2, 0.7]}
    case = Words(documents, [0, 1, 1, 0], 2, **given, dims_of_eta=["vocab"])
    sampler = sampler_for(case)
    program, (state, rng) = sampler.loops(), started(case)
    states = [np.array(z) for z in product(range(2), repeat=4)]
    logs = np.array([case.log_density(z) for z in states])
    posterior = np.exp(logs - logsumexp(logs))
    transition = np.zeros((16, 16))
    for before in range(16):
        for path in product(range(2), repeat=4):
            drawn = Drawn(program, iter(path))
            after = drawn.sweep({**state, "z": states[before]}, rng)
            transition[before, int("".join(map(str, after)), 2)] += drawn.probability

    np.testing.assert_allclose(transition.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(posterior @ transition, posterior, atol=1e-14)
    assert (transition > 0).all()


def test_documents_may_be_a_dim_of_the_labels(forced):
    sampler = sampler_of(*NAMED["topics_of_a_table-theta-phi"])
    case = Words(np.repeat([0, 1], 3), [0, 1, 1, 2, 1, 0], 2, alpha=0.7, eta=0.4)
    program = sampler.loops()
    assert is_by_buckets(program)

    assert farthest(case, *forced, program, *started(case, (2, 3))) < 1e-12


def test_both_groupings_may_be_along_one_axis(forced):
    """A word and the one before it."""
    rng = np.random.default_rng(1)
    before, word = (np.append(rng.integers(4, size=19), 3) for _ in range(2))
    case = Words(before, word, 5)
    with gp.Model(coords={"k": 5, "v": 4, "n": 20}) as m:
        theta = gp.Dirichlet("theta", 0.1, dims=("v", "k"), event="k")
        phi = gp.Dirichlet("phi", 0.02, dims=("k", "v"), event="v")
        z = gp.Categorical(
            "z", theta[gp.Index("before", before, of="v", dims="n")], dims="n", event="k"
        )
        gp.Categorical("word", phi[z], dims="n", event="v", observed=word)
    program = gp.compile(m, collapse=case.names).loops()
    (found,) = forced
    by = {"before": before, "word": word}[found.within.index.array.name]
    case.order = lambda _: np.argsort(by, kind="stable")

    assert farthest(case, found, program, *started(case)) < 1e-12


@pytest.mark.usefixtures("forced")
def test_lists_have_the_counts_of_the_last_labels():
    case = CASES["topics"]
    sampler = sampler_for(case)
    drawn = Drawn(sampler.loops())
    z = drawn.sweep(*started(case), 2)
    entries, used = drawn.lists

    first = 0
    for word in range(6):
        counts = Counter(z[case.word == word].tolist())
        assert counts_in(entries, first, used[word]) == counts
        first += int((case.word == word).sum())


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize(
    "name", ["topics", pytest.param("words of one document", marks=pytest.mark.slow)]
)
def test_compiled_scans_by_buckets_draw_what_plain_ones_draw(name):
    pytest.importorskip("numba")
    case = CASES[name]
    program = sampler_for(case).loops()
    chains = []
    for runner in (program.plain(), program.compiled()):
        state, stream = started(case)
        arrays = program.arrays_of(copy.deepcopy(state))
        runner.sweep(program.arguments(stream, arrays), 5)
        chains.append((arrays["z"], stream.bit_generator.state))
    (plain_labels, stream), (labels, other_stream) = chains

    np.testing.assert_array_equal(labels, plain_labels)
    assert stream == other_stream


# ---- which scans --------------------------------------------------------------------------------


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "topics-theta-phi": True,
        "topics_of_a_table-theta-phi": True,
        "labels_of_labels-w-table": False,  # (the words are labels that are drawn)
        "words_by_group-w-phi": False,  # (sums of words by label and group)
        "topics-phi": True,
        "topics-theta": True,
        "normals-w": False,
        "answers-w-p": False,
    }.items(),
)
def test_which_scans_have_buckets(name, expected):
    assert is_by_buckets(sampler_of(*NAMED[name]).loops()) == expected


@pytest.mark.usefixtures("forced")
def test_a_base_by_label_in_both_groupings_leaves_no_buckets():
    given = {"alpha": SHARES, "dims_of_alpha": ["k"], "eta": SHARES, "dims_of_eta": ["k"]}
    assert not is_by_buckets(sampler_for(of_words(**given)).loops())


@pytest.mark.parametrize(("topics", "expected"), [(20, False), (1000, True)])
def test_many_labels_are_drawn_by_buckets(topics, expected):
    sampler = gp.compile(lda.model(lda.bars(), topics=topics), **lda.WAYS["collapsed"])
    assert is_by_buckets(sampler.loops()) == expected


def test_what_loops_save_is_estimated_in_proportion_to_the_elements():
    saved = []
    for documents in (50, 100):
        model = lda.model(lda.bars(documents=documents, length=100, side=20), topics=1000)
        found = gp.compile(model, **lda.WAYS["collapsed"]).loops()
        saved.append(worth_of(found.sweep_value, found.known_sizes).saved)

    assert 1 < saved[1] / saved[0] <= 2


# ---- planted bugs ------------------------------------------------------------------------------


def without(kind):
    """A statement is left out, with the loops that it is alone in."""
    return lambda s: () if is_of(alone_in(s), kind) else None


def alone_in(s):
    """The statement that loops have nothing else than."""
    return alone_in(s.body[0]) if isinstance(s, Loop) and len(s.body) == 1 else s


def twice(kind):
    """A statement is carried out twice."""
    return lambda s: (s, s) if is_of(s, kind) else None


def is_of(s, kind):
    return isinstance(s, kind) if isinstance(kind, type) else getattr(s, "kernel", "") == kind


WRONG = {
    "a label that is not listed": without("one_listed"),
    "a label that is listed twice": twice("one_listed"),
    "a weight that is not brought up to date": without("weight_in_tree"),
    "sums that are not made": without("tree_of_sums"),
    "a count that is left out": without(Add),
    "a count that is added twice": twice(Add),
    "a value that is not stored": without(Store),
}


@pytest.mark.parametrize("is_anew", [True, False])
@pytest.mark.parametrize("name", WRONG)
def test_planted_bugs_are_caught(name, is_anew, forced, monkeypatch):
    cost = 0.0 if is_anew else 1.0
    monkeypatch.setattr(buckets, "SPARSE_SCAN", Time(0.0, (1e-9, 1e-12, cost)))
    case = CASES["many topics"]
    sampler = sampler_for(case)
    value, sizes = sampler.loops().sweep_value, sampler.schedule.whole.sizes
    place = max(n for n, s in enumerate(value.statements) if isinstance(s, Loop))
    scan, rest = value.statements[: place + 1], value.statements[place + 1 :]
    wrong = [w for w in mutants(scan, WRONG[name]) if not has_empty_loop(w)]
    for changed in wrong:
        program = LoopProgram.of(replace(value, statements=(*changed, *rest)), sampler.data, sizes)
        assert is_caught(case, *forced, program, *started(case))
    assert wrong


def has_empty_loop(statements):
    return any(isinstance(s, Loop) and not s.body for s in every(statements))


def is_caught(case, found, program, state, rng):
    """Whether probabilities are off, or nothing can be drawn."""
    try:
        return not farthest(case, found, program, state, rng) < 1e-12
    except (AssertionError, IndexError, ValueError):
        return True
