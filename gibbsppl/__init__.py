"""gibbsppl: a compiler that derives, explains, checks and runs Gibbs samplers.

>>> import gibbsppl as gp
>>> with gp.Model(name="mean") as model:
...     mu = gp.Normal("mu", 0, sigma=10)
...     y = gp.Normal("y", mu, sigma=1, observed=1.5)
>>> print(model.graph)
mu ~ Normal(mu=0, tau=0.01)
y ~ Normal(mu=mu, tau=1), observed
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# What is found here, and the module that holds it; anything else is the language's. Modules are
# imported at first use, so that `import gibbsppl` is quick.
_ELSEWHERE = {
    "compile": "compiling",
    "Sampler": "sampler",
    "Draws": "output.draws",
    "load_draws": "sampling.resuming",
    "resume": "sampling.resuming",
    "until": "output.until",
    "compare_models": "output.model_comparison",
    "predictive": "predict.predictive",
    "simulate": "predict.prior",
    "baselines": "predict",
    "read_bugs": "bugs.read",
    "read_inits": "bugs.inits",
    "write_bugs": "bugs.write",
    "BugsError": "bugs.syntax",
    "Slice": "kernels",
    "EllipticalSlice": "kernels",
    "RandomWalk": "kernels",
    "AdaptiveRejection": "kernels",
    "OverRelaxed": "kernels",
    "Swap": "kernels",
    "Proposal": "kernels",
    "Exact": "kernels",
    "HMC": "kernels",
    "NUTS": "kernels",
    "Cycle": "kernels",
    "Mix": "kernels",
    "RandomScan": "schedule.scanning",
    "ModelError": "errors",
    "CompileError": "errors",
    "RunError": "errors",
    "GibbspplError": "errors",
}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if name == "runtime":  # all that a generated module needs
        return import_module("gibbsppl.runtime")
    place = f"gibbsppl.{_ELSEWHERE.get(name, 'language')}"
    if name == "baselines":  # a module of several functions
        return import_module(f"{place}.{name}")
    module = import_module(place)
    try:
        return getattr(module, name)
    except AttributeError:
        from gibbsppl.arguments import no_attribute  # noqa: PLC0415  (only for names unknown)

        raise no_attribute("gibbsppl", name, __dir__()) from None


def __dir__() -> list[str]:
    return sorted({*_ELSEWHERE, *dir(import_module("gibbsppl.language")), "__version__"})
