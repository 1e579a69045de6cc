"""Times of functions and kernels of loops in operations: the figures of `runtime/operations`.

    python tests/benchmarks/operations.py

An operation is half of the time of a product that is added to a sum, each after the one before. All
are compiled and called in a loop, at arguments of ordinary size; draws are of both.
"""

from importlib import import_module
from time import process_time

import numpy as np
from numba import njit

from gibbsppl.code.loop_text.expressions import kernels

SIZE, REPEATS = 100_000, 5

FUNCTIONS = {
    "abs": "abs({x})",
    "sqrt": "np.sqrt({x})",
    "/": "1.5 / {x}",
    "**": "{x} ** 1.7",
    "exp": "exp_of({x})",
    "log": "log({x})",
    "log1p": "log1p({x})",
    "cos": "cos({x})",
    "sin": "sin({x})",
    "arctan": "arctan({x})",
    "reciprocal": "reciprocal({x})",
    "expit": "expit({x})",
    "softplus": "softplus({x})",
    "log_add_exp": "log_add_exp({x}, 0.3)",
    "log_cloglog": "log_cloglog({x})",
    "xlogy": "xlogy({x}, 0.7)",
    "xlog1py": "xlog1py({x}, 0.7)",
    "log_mass": "log_mass(-{x}, -0.5 * {x}, -0.5 * {x}, -{x}, 0.0)",
    "weighted": "weighted(0.7, {x})",
    "minimum": "minimum({x}, 1.0)",
    "maximum": "maximum({x}, 1.0)",
    "equals": "equals({x}, 1.0)",
    "below": "below({x}, 1.0)",
    "at_most": "at_most({x}, 1.0)",
    "remainder": "remainder({x}, 10.0, 3.0)",
    "loggamma": "loggamma({x})",
    "digamma": "digamma({x})",
    "log_beta": "log_beta({x}, 2.5)",
    "log_rising": "log_rising({x}, 3.0)",
    "log_gamma_p": "log_gamma_p({x}, 1.3)",
    "log_gamma_q": "log_gamma_q({x}, 1.3)",
    "log_gamma_u": "log_gamma_u({x}, 1.3)",
    "log_beta_i": "log_beta_i({x}, 2.5, 0.4)",
    "log_beta_i_1p": "log_beta_i_1p({x}, 2.5, -0.6)",
    "log_gamma_p_of_exp": "log_gamma_p_of_exp({x}, 0.3)",
    "normal_cdf": "normal_cdf({x})",
    "normal_log_cdf": "normal_log_cdf({x})",
    "log_one_minus_exp": "log_one_minus_exp(-{x})",
    "log_bessel_i": "log_bessel_i(1.5, {x})",
    "log_bessel_k": "log_bessel_k(1.5, {x})",
    "log_bessel_k_by_order": "log_bessel_k_by_order(1.5, {x})",
    "log_fox_wright": "log_fox_wright(1.5, {x})",
    "log_fox_wright_by_shape": "log_fox_wright_by_shape(1.5, {x})",
    "log_passage_p": "log_passage_p({x}, 0.5)",
    "log_passage_q": "log_passage_q({x}, 0.5)",
    "log_polya_gamma": "log_polya_gamma(2.0, {x})",
    "log_stirling": "log_stirling(9.0, 3.0)",
    "exp_of": "exp_of({x})",
    "inverse_probability": "inverse_probability({x})",
    "variance": "variance(-{x})",
    "deviation": "deviation(-{x})",
    "width_learnt": "width_learnt({x}, 1.0, 0.3)",
    "scale_learnt": "scale_learnt({x}, 1.0, 0.3, 0.4)",
    "exp_not_above_1": "exp_not_above_1(-{x})",
}

DRAWS = {
    "normal": "{x}, -0.5",
    "normal_of": "{x}, 1.0, 1.0",
    "gamma": "{x} + 1.0, -1.5",
    "gamma_of": "{x} + 1.0, 1.5",
    "log_gamma_of": "{x}",
    "inverse_gamma": "-{x} - 2.0, -1.0",
    "inverse_gamma_of": "{x}, 1.0",
    "chi_squared": "{x}",
    "exponential": "-{x}",
    "half_normal": "-{x}",
    "half_normal_of": "{x}",
    "log_normal": "{x}, -0.5",
    "log_normal_of": "{x}, 1.0, 1.0",
    "laplace": "-{x}, 0.0",
    "weibull": "-{x}, 1.5",
    "pareto": "-{x} - 1.0, 1.0",
    "pareto_of": "{x}, 1.0",
    "beta": "{x}, 1.5",
    "beta_of": "{x}, 1.5",
    "beta_exponential": "-{x}, 1.5",
    "beta_exponential_of": "{x}, 1.5",
    "uniform": "0.0, {x}",
    "bernoulli": "{x}",
    "bernoulli_of": "1.0 + {x}",
    "binomial": "{x}, 20.0",
    "poisson": "{x} + 1.0",
    "poisson_of": "5.0 * {x}",
    "geometric": "-{x}",
    "negative_binomial": "-{x}, 3.0",
    "discrete_uniform": "0.0, 9.0",
    "generalized_inverse_gaussian": "0.5, -{x}, -1.0",
    "inverse_gaussian": "-{x}, -1.0",
    "truncated_generalized_inverse_gaussian": "0.5, -{x}, -1.0, 0.1, 5.0",
    "modified_half_normal": "3.0, {x}, -1.0",
    "truncated_modified_half_normal": "3.0, {x}, -1.0, 0.1, 5.0",
    "beta_prime": "{x}, -{x} - 4.0",
    "truncated_beta_prime": "{x}, -{x} - 4.0, 0.1, 5.0",
    "von_mises": "{x}, 0.5",
    "truncated_uniform": "0.0, {x}",
    "truncated_normal": "{x}, -0.5, 0.0, np.inf",
    "truncated_half_normal": "-{x}, 0.1, 2.0",
    "truncated_log_normal": "{x}, -0.5, 0.5, 5.0",
    "truncated_exponential": "-{x}, 0.1, 2.0",
    "truncated_power": "{x}, 0.1, 2.0",
    "truncated_gamma": "{x} + 1.0, -1.5, 0.1, 5.0",
    "truncated_inverse_gamma": "-{x} - 2.0, -1.0, 0.1, 5.0",
    "truncated_beta": "{x}, 1.5, 0.1, 0.9",
    "truncated_poisson": "{x}, 1.0, 9.0",
    "polya_gamma": "-{x}, 1.0",
    "tables": "{x}, 20.0",
}


def names():
    """All kernels as Numba compiles them, by name."""
    found = {"np": np}
    for name, module in kernels().items():
        found[name] = getattr(import_module(f"gibbsppl.runtime.compiled.{module}"), name)
    return found


KNOWN = names()


def seconds(body):
    """The least time of the loop, for each position."""
    head = ("def run(rng, xs, total):", "    for i in range(len(xs)):", "        x = xs[i]")
    space = dict(KNOWN)
    exec("\n".join((*head, f"        total += {body}", "    return total")), space)  # noqa: S102
    run = njit(space["run"])
    rng, xs = np.random.default_rng(1), np.random.default_rng(2).uniform(0.3, 2.5, SIZE)
    run(rng, xs, 0.0)
    times = []
    for _ in range(REPEATS):
        start = process_time()
        run(rng, xs, 0.0)
        times.append((process_time() - start) / SIZE)
    return min(times)


def main():
    """Print a row for each function and each draw."""
    product, alone = seconds("x * x"), seconds("x")
    unit = product / 2
    print(f"an operation: {1e9 * unit:.2f} ns (a sum alone {1e9 * alone:.2f})", flush=True)
    calls = FUNCTIONS | {name: f"{name}(rng, {given})" for name, given in DRAWS.items()}
    for name, call in calls.items():
        print(f"{name}: {(seconds(call.format(x='x')) - alone) / unit:.1f}", flush=True)


if __name__ == "__main__":
    main()
