"""Other programs, a row each: where each comes from, how it is run, and why one may be missing.

>>> [peer.name for peer in PEERS][:2]
['JAGS', 'JAGS without glm']
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from environments import python_of
from sides import ByHand, Elsewhere, Jags


@dataclass(frozen=True, slots=True)
class Peer:
    """A program: what it does, its packages of PyPI, the module of ``written/`` that runs it.

    ``never`` says why nobody can run it here; ``modules`` are those that JAGS loads.
    """

    name: str
    about: str
    side: Callable = Elsewhere
    program: str = ""
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    never: str = ""
    options: dict = field(default_factory=dict)

    def python(self):
        """The interpreter of its environment."""
        return python_of(self.name, self.packages)

    def beside(self, workload):
        """The side, ready for a workload; ImportError, if the program is missing."""
        if self.never:
            raise ImportError(self.never)
        return self.side(workload, self)


BY_HAND = "by hand"
PEERS = (
    Peer("JAGS", "Gibbs sampling, default settings, with the module glm", Jags, modules=("glm",)),
    Peer("JAGS without glm", "Gibbs sampling, default settings", Jags),
    Peer("NumPyro", "NUTS, default settings", program="in_numpyro", packages=("numpyro",)),
    Peer("PyMC", "NUTS of nutpie, defaults", program="in_pymc", packages=("pymc", "nutpie")),
    Peer("smurff", "Gibbs sampling of factorisations", program="in_smurff", packages=("smurff",)),
    Peer("myfm", "Gibbs sampling of machines", program="in_myfm", packages=("myfm",)),
    Peer("poismf", "proximal gradients, no sampler", program="in_poismf", packages=("poismf",)),
    Peer(
        "hpfrec", "mean-field variational inference, no sampler", program="in_hpfrec",
        packages=("hpfrec", "pandas", "scipy"),
    ),
    Peer("tomotopy", "collapsed topics", program="in_tomotopy", packages=("tomotopy",)),
    Peer("lda", "collapsed topics", program="in_lda", packages=("lda",)),
    Peer(
        "hmmlearn", "expectation-maximisation, no sampler", program="in_hmmlearn",
        packages=("hmmlearn",),
    ),
    Peer("nimble", "Gibbs sampling in R", never="it comes from CRAN, Debian has no package of it"),
    Peer(BY_HAND, "sweeps written by hand for the same back end", ByHand),
)  # fmt: skip
NAMED = {peer.name: peer for peer in PEERS}
