"""The methods of a sampler that simulate or enumerate its steps, on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gibbsppl.model.evaluation import Values
from gibbsppl.schedule.sweeps import Schedule

if TYPE_CHECKING:
    from gibbsppl.checks.geweke import GewekeResult
    from gibbsppl.checks.transition import TransitionMatrix


class Checking:
    """The methods of a sampler that check its steps by their draws, or by all of their states."""

    __slots__ = ()

    def check_kernel(self, name: str, **settings: Any) -> GewekeResult:
        """The joint-distribution test of the step of one variable: a table with ``.passed``.

        The test finds a fault that `verify` cannot: a kernel that does not leave its conditional
        invariant. Models with improper priors, or potentials that are no constraints, cannot be
        simulated for the test.
        ``settings``: ``replicates`` (1000), ``sweeps`` (3), ``level`` (0.001), ``seed``;
        ``reversible=True`` for a step in detailed balance with its conditional: flows between
        values, there and back, are compared too.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="shift") as shift:
        ...     mu = gp.Normal("mu", 0, sigma=1)
        ...     y = gp.Normal("y", mu, sigma=1, observed=1.5)
        >>> walking = gp.compile(shift, kernels={"mu": gp.RandomWalk()})
        >>> print(walking.check_kernel("mu", replicates=200, seed=1).passed)
        True
        """
        from gibbsppl.checks.one_step import check_kernel  # noqa: PLC0415  (only checks need it)

        model: Any = self

        def again(seen: Values) -> tuple[Schedule, Values]:
            made = model._with({**model.data, **seen})  # noqa: SLF001  (of this class)
            return made.schedule, made.data

        own = (model.schedule, model.data)
        return check_kernel(model.graph, own, again, name, **settings)

    def transition_matrix(self) -> TransitionMatrix:
        """The exact transition matrix of a sweep, where all latent variables are labels.

        Printed, it says whether a sweep leaves the exact posterior as it is and is reversible, and
        how fast a chain converges: the second largest eigenvalue, the spectral gap, the relaxation
        and the mixing time, in sweeps; ``autocorrelation_time(function)`` is that of a function of
        the state. Labels are drawn exactly, or moved by `gp.RandomWalk` (one that adapts at the
        scale 1, where it starts), by a `gp.Proposal` whose ``log_density`` is the log of the
        probability itself, or by cycles and mixtures of these, in any scan. Raises `CompileError`
        for other variables and kernels, and above 4096 states.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="two") as two:
        ...     a, b = gp.Bernoulli("a", 0.5), gp.Bernoulli("b", 0.5)
        ...     y = gp.Bernoulli("y", 0.1 + 0.8 * a * b, observed=1)
        >>> found = gp.compile(two, scan="random").transition_matrix()
        >>> found.passed, found.is_reversible, round(found.spectral_gap, 3)
        (True, True, 0.51)
        >>> round(found.autocorrelation_time(lambda state: state["a"]), 3)
        2.404
        """
        from gibbsppl.checks.enumeration import transition_matrix  # noqa: PLC0415  (on request)

        model: Any = self
        return transition_matrix(model.graph, model.program, model.schedule, model.data)
