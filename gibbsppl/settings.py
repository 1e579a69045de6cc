"""The settings of `compile`, checked, and what the methods of a sampler take.

Comes in: settings as `gibbsppl.compiling.compile` takes them. Goes out: the settings as a dict in
canonical form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from gibbsppl.arguments import (
    BY_NAME,
    COUNT,
    DRAWS,
    KEPT,
    NAME,
    NAMES,
    PATH,
    POSITIVE,
    POSITIVE_NUMBER,
    START,
    STARTS,
    TRUTH,
    Kind,
)
from gibbsppl.display.methods import PLOT
from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.schedule.blocks import blocks_of
from gibbsppl.schedule.moments import By
from gibbsppl.schedule.scanning import checked_scan

# What `compile` takes by name.
Settings = Mapping[str, Any]

VARIANTS = Kind(
    lambda value: isinstance(value, Mapping)
    and all(isinstance(v, Mapping) and all(isinstance(n, str) for n in v) for v in value.values()),
    "a dict from names to dicts of arguments of compile",
)
AT_VALUES = Kind(
    lambda value: BY_NAME.fits(value) or DRAWS.fits(value),
    "a dict from the names of latent variables to values, or draws, as sample() returns them",
)
EXECUTOR = Kind(
    lambda value: callable(getattr(value, "submit", None)) and hasattr(value, "shutdown"),
    "an executor of concurrent.futures, such as client.get_executor() of Dask",
)
RULE = Kind(
    lambda value: hasattr(type(value), "next_look"), "a rule, such as gp.until(ess=400, r_hat=1.01)"
)
MONITORS = Kind(
    lambda value: NAMES.fits(value) or callable(value) or isinstance(value, Mapping | Sequence)
    or hasattr(type(value), "of"),
    "names of variables, functions of the state, gp.predictive(...), or a dict of these by name",
)
OF_FITS = {
    **dict.fromkeys(("starts", "sweeps"), COUNT),
    "warmup": COUNT.or_none(),
    "init": STARTS.or_none(),
    **dict.fromkeys(("anneal", "progress"), TRUTH),
}
FUNCTION = Kind(callable, "a function")
OF_LONG_RUNS = {
    "checkpoint": PATH.or_none(), "every": POSITIVE_NUMBER.or_none(),
    "callback": FUNCTION.or_none(), "callback_every": POSITIVE,
}  # fmt: skip
OF_DRAWS = {"draws": DRAWS, "names": NAMES.or_none()}

# What the methods of a sampler take, by argument.
ARGUMENTS: Mapping[str, Mapping[str, Kind]] = {
    "plot": PLOT,
    "explain": {"name": NAME.or_none()},
    "verify": {"seed": COUNT},
    "check_kernel": {"name": NAME},
    "sample": {
        **dict.fromkeys(("draws", "warmup", "thin", "limit_bytes"), COUNT),
        "chains": POSITIVE,
        "backend": NAME.or_none(),
        "init": STARTS.or_none(),
        "start": START,
        "keep": KEPT.or_none(),
        "keep_warmup": TRUTH,
        "monitor": MONITORS.or_none(),
        "threads": COUNT.or_none(),
        "cores": COUNT.or_none(),
        "executor": EXECUTOR.or_none(),
        "until": RULE.or_none(),
        "temper": COUNT.or_truth(),
        "progress": TRUTH,
        **OF_LONG_RUNS,
    },
    "extend": {
        "draws": DRAWS,
        **dict.fromkeys(("more", "limit_bytes"), COUNT),
        "monitor": MONITORS.or_none(),
        "cores": COUNT.or_none(),
        "executor": EXECUTOR.or_none(),
        "until": RULE.or_none(),
        "progress": TRUTH,
        **OF_LONG_RUNS,
    },
    "conditional_averages": {
        "names": NAMES,
        **dict.fromkeys(("draws", "batches", "warmup", "chains", "thin"), COUNT),
        "backend": NAME.or_none(),
        "init": STARTS.or_none(),
    },
    "evidence": {
        "method": NAME.or_none(),
        **dict.fromkeys(("draws", "warmup", "chains"), COUNT),
        "backend": NAME.or_none(),
        "progress": TRUTH,
    },
    "initial_states": {"chains": COUNT, "init": STARTS.or_none(), "start": START},
    "variational": {**OF_FITS, "batch": BY_NAME.or_none()},
    "maximise": {**OF_FITS, "draws": COUNT},
    "costs": {"alternatives": TRUTH},
    "compare": {"variants": VARIANTS.or_none(), "of": NAMES.or_none(), "draws": COUNT},
    "tuned": {
        "variants": VARIANTS.or_none(),
        "of": NAMES.or_none(),
        **dict.fromkeys(("seed", "sweeps", "chains"), COUNT),
        "backend": NAME.or_none(),
    },
    "predict": {"draws": DRAWS, "new": BY_NAME, "name": NAME.or_none()},
    "simulate": {
        **OF_DRAWS,
        "new": BY_NAME.or_none(),
        "seed": COUNT.or_none(),
        "censored": TRUTH,
        "limit_bytes": COUNT,
    },
    "log_likelihood": {**OF_DRAWS, "limit_bytes": COUNT},
    "with_groups": {
        "draws": DRAWS,
        **dict.fromkeys(("log_likelihood", "posterior_predictive"), NAMES.or_truth()),
        "prior": COUNT.or_truth(),
        "seed": COUNT.or_none(),
    },
    "relabelled": {"draws": DRAWS, "labels": NAME},
    "log_density": {"values": AT_VALUES},
    "deviance": {"draws": DRAWS},
    "dic": {"draws": DRAWS, "seed": COUNT},
    **{f"conditional_{what}": OF_DRAWS for what in ("mean", "sd", "probabilities")},
}


def checked_settings(**asked: object) -> Settings:
    """The settings in canonical form, or an error for values that fit no model."""
    blocks, rewrites, interweave = asked["blocks"], asked["rewrites"], asked["interweave"]
    if not isinstance(blocks, Mapping | bool | None):
        raise _unexpected("blocks", blocks, "a dict from names of variables, or False for none")
    if not isinstance(rewrites, Mapping | bool):
        expected = "a dict from names of rules to True or False, or False for none"
        raise _unexpected("rewrites", rewrites, expected)
    blocks_of(blocks)
    kernels = asked["kernels"]
    return {
        **asked,
        "blocks": dict(blocks) if isinstance(blocks, Mapping) else blocks,
        "collapse": _names("collapse", asked["collapse"]),
        "interweave": interweave
        if isinstance(interweave, bool)
        else _names("interweave", interweave, ", or True (where that is cheap) or False (none)"),
        "order": _names("order", asked["order"]),
        "scan": checked_scan(asked["scan"]),
        "kernels": dict(kernels) if isinstance(kernels, Mapping) else kernels,
        "by": checked_by(asked["by"]),
    }


def checked_by(asked: object) -> dict[str, By]:
    """By what each variable is read, or an error for other words."""
    if asked is None:
        return {}
    ways = ", ".join(map(repr, get_args(By)))
    expected = f"a dict from names of variables to one of {ways}"
    if not isinstance(asked, Mapping):
        raise _unexpected("by", asked, expected)
    for name, how in asked.items():
        if how not in get_args(By):
            error = _unexpected(f"by[{name!r}]", how, f"one of {ways}")
            raise CompileError(f"{error}{did_you_mean(str(how), get_args(By))}")
    return {name: how for name, how in asked.items() if how != "draw"}


def _names(what: str, asked: object, or_else: str = "") -> tuple[str, ...]:
    names = (asked,) if isinstance(asked, str) else asked
    wrong = names if isinstance(names, Sequence) else (asked,)
    for found in wrong:
        if not isinstance(found, str):
            raise _unexpected(what, found, f"names of variables{or_else}")
    return tuple(wrong)


def _unexpected(what: str, found: object, expected: str) -> CompileError:
    return CompileError(f"{what}: found {found!r}, expected {expected}.")
