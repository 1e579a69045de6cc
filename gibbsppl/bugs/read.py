"""Models of BUGS texts: `read_bugs`.

>>> coin = read_bugs("model { for (i in 1:N) { y[i] ~ dbern(p) }; p ~ dbeta(1, 1) }",
...                  {"N": 3, "y": [0, 1, 1]})
>>> print(coin.graph)
y[i] ~ Bernoulli(p=p), observed
p ~ Beta(a=1, b=1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gibbsppl.arguments import NAME, NAMES, GivenArray, calls_told
from gibbsppl.bugs.data import read_data
from gibbsppl.bugs.documents import document_of
from gibbsppl.bugs.lowering import lowered
from gibbsppl.bugs.parse import parse
from gibbsppl.bugs.syntax import BugsError
from gibbsppl.errors import ModelError
from gibbsppl.language.model import Model


@calls_told(ModelError, monitor=NAMES, name=NAME.or_none())
def read_bugs(
    source: str | Path,
    data: Mapping[str, GivenArray] | str | Path | None = None,
    *,
    monitor: Sequence[str] = (),
    name: str | None = None,
) -> Model:
    """The model of a text in the language of BUGS and JAGS, with its data.

    ``source`` is a text, or the path of a file. ``data`` are arrays by name (missing values are
    masked, or None in lists), or a text or a file in a form of BUGS, JAGS or R, or JSON; lists and
    tables after the program in the same text, as in compound documents of BUGS, add data of further
    names. Loops become dimensions, whose positions are labelled from 1. Labels (``dcat``) count
    from 0 in the model, as ``<name>.label``, and are recorded from 1 under their own name. Computed
    numbers, and computed arrays that no line reads, are recorded with the draws; ``monitor`` names
    further quantities. Errors are `BugsError` and name the line.
    """
    told = name or (source.stem if isinstance(source, Path) else "model")
    program = parse(source)
    values = {**document_of(program).data, **({} if data is None else read_data(data))}
    try:
        model = lowered(program, values, told, tuple(monitor))
    except BugsError:
        raise
    except ModelError as error:
        raise BugsError(str(error), origin=program.origin) from error
    return model
