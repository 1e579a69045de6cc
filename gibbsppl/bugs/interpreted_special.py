"""Functions of SciPy by name: ``scipy.special`` is loaded when one is called.

>>> float(special.ndtr(0.0))
0.5
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import scipy

__all__ = ["special"]

NAMES = (
    "betainc", "betaln", "chndtr", "expit", "expm1", "gamma", "gammainc", "gammaincc",
    "gammaln", "hyp1f1", "ive", "log_expit", "log_ndtr", "logit", "logsumexp", "multigammaln",
    "nctdtr", "ndtr", "ndtri", "stdtr", "xlog1py", "xlogy",
)  # fmt: skip


def _called(name: str) -> Callable[..., Any]:
    def called(*arguments: Any) -> Any:
        return getattr(scipy.special, name)(*arguments)

    return called


special = SimpleNamespace(**{name: _called(name) for name in NAMES})
