"""The model while it is being declared: the only mutable object.

Comes in: dimensions, arrays and statements, one at a time. Goes out: ``model.graph`` (frozen),
``model.data`` and ``model.coords``.

>>> with Model(coords={"rat": ["a", "b"]}) as growth:
...     current_model("x") is growth
True
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from types import TracebackType
from typing import Any, ClassVar, Self

import networkx as nx
import numpy as np

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.pickling import pickled, restored
from gibbsppl.arguments import GivenArray, is_no_text, methods_told, shown
from gibbsppl.display.methods import PLOT, Shown
from gibbsppl.errors import ModelError, nearest
from gibbsppl.language.completeness import check_complete
from gibbsppl.language.computed import with_recursions
from gibbsppl.language.coordinates import GivenLabels, as_array, labels_of
from gibbsppl.language.declared import Declared
from gibbsppl.language.dim_names import base, check_name, dims_named
from gibbsppl.language.waiting import Waiting, unsized
from gibbsppl.model.graph import Graph, Variable
from gibbsppl.model.graph_views import Blanket, blanket, dag

# Whole numbers from here on are floats: they do not fit into 64 bits.
LARGEST_INTEGER = 2.0**63

_OPEN: ContextVar[tuple[Model, ...]] = ContextVar("open models", default=())


def _restored(kind: type[Model], content: bytes) -> Model:
    """The model that was pickled."""
    model = kind.__new__(kind)
    model.__dict__ |= restored(content)
    return model


@methods_told(ModelError, plot=PLOT)
class Model(Shown):
    """A model under declaration, used as a context manager.

    ``coords`` maps the name of each dimension to the labels of its positions, or to its size.

    >>> model = Model(coords={"rat": 3, "day": [8, 15]})
    >>> model.size("rat"), model.coords["day"]
    (3, array([ 8, 15]))
    """

    def __init__(
        self, coords: Mapping[str, GivenLabels] | None = None, name: str | None = None
    ) -> None:
        if name is not None and (not isinstance(name, str) or is_no_text(name)):
            raise ModelError(f"gp.Model(name={name!r}): expected a text that can be printed.")
        if not isinstance(coords, Mapping | None):
            more = f"; to name the model, write gp.Model(name={coords!r})"
            raise ModelError(
                f"gp.Model(coords={coords!r}): expected a mapping from the names of dimensions to "
                f"labels or sizes, such as {{'i': 3}}{more if isinstance(coords, str) else ''}."
            )
        self.name = name or "model"
        self.declared = Declared()
        # A `gibbsppl.bugs.reading.Reading` of the text that the model was read from, if it was.
        self.reading: Any = None
        self._names: dict[str, str] = {}
        self._coords: dict[str, np.ndarray | range] = {}
        self._sized: set[str] = set()
        self.waiting = Waiting()
        for dim, labels in (coords or {}).items():
            self.add_dim(dim, labels)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), pickled(self.__dict__))
    # Set by `gibbsppl.language.other_data`, which is above: it knows how values are read.
    told_anew: ClassVar[Callable[..., Model]]

    def with_data(
        self, values: Mapping[str, GivenArray], missing: Mapping[str, Any] | None = None,
        coords: Mapping[str, GivenLabels] | None = None,
    ) -> Model:
        """The same model with other values of data, indices or observed arrays, by name.

        ``missing`` has, by name, what stands for missing. Dims may get other sizes, if all arrays
        along them are given; ``coords`` has their labels (or sizes). Nothing is derived again
        for its sampler where all facts that the plan follows from are as they were.

        >>> import gibbsppl as gp
        >>> with gp.Model() as model:
        ...     mu = gp.Normal("mu", 0, sigma=10)
        ...     y = gp.Normal("y", mu, sigma=1, dims="i", observed=[0.3, 1.2])
        >>> model.with_data({"y": [5.0, 6.0]}).data["y"]
        array([5., 6.])
        >>> model.with_data({"y": [5.0, 6.0, 7.0]}).size("i")
        3
        """
        given = (values, missing or {}, coords or {})
        if wrong := [g for g in given if not isinstance(g, Mapping)]:
            told = f"with_data: found {shown(wrong[0])}, expected values by name, such as "
            raise ModelError(told + 'model.with_data({"y": [1.0, 2.0]}).')
        return type(self).told_anew(self, *given)

    def copied(self) -> Self:
        """The same model, to be changed on its own."""
        made = type(self).__new__(type(self))
        made.__dict__ |= {n: copy(v) for n, v in self.__dict__.items() if n != "reading"}
        made.declared, made.reading = self.declared.copied(), None
        return made

    def __enter__(self) -> Self:
        _OPEN.set((*_OPEN.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Contexts may be left in any order (two generators interleaved): remove this model's last.
        models = list(_OPEN.get())
        last = len(models) - 1 - models[::-1].index(self)
        _OPEN.set((*models[:last], *models[last + 1 :]))

    def __repr__(self) -> str:
        return f"Model({self.name!r}, variables: {', '.join(self.declared.variables) or 'none'})"

    @property
    def graph(self) -> Graph:
        """The model as a frozen value, checked to be complete and free of cycles."""
        self.waiting.check_none()
        graph = Graph(
            name=self.name,
            sizes=self._sizes(self._primed()),
            variables=self._variables(),
            statements=tuple(self.declared.statements),
            potentials=tuple(self.declared.potentials),
            constants=tuple(self.declared.constants),
            deterministics=tuple(self.declared.deterministics),
            labels=self.labels,
        )
        check_complete(graph, self.declared.arrays)
        return with_recursions(graph, self.declared.computed, self.known)

    def dag(self) -> nx.DiGraph[str]:
        """The directed graph of the model, with an edge from each parent to each child.

        Nodes are statements and potentials by name, with ``kind``: ``"latent"``, ``"observed"`` or
        ``"potential"``; a lag shows as a loop. The result is a networkx graph, to draw or to query.

        >>> import gibbsppl as gp
        >>> with gp.Model() as model:
        ...     mu = gp.Normal("mu", 0, sigma=10)
        ...     y = gp.Normal("y", mu, sigma=1, observed=0.3)
        >>> model.dag().edges, model.dag().nodes["mu"]
        (OutEdgeView([('mu', 'y')]), {'kind': 'latent'})
        """
        return dag(self.graph)

    def blanket(self, name: str) -> Blanket:
        """The Markov blanket of a variable: all that its complete conditional depends on.

        ``name`` is the name of a statement: one for each region of an array, as in `dag`.

        >>> import gibbsppl as gp
        >>> with gp.Model() as model:
        ...     mu, tau = gp.Normal("mu", 0, sigma=10), gp.Gamma("tau", 1, rate=1)
        ...     y = gp.Normal("y", mu, tau=tau, observed=0.3)
        >>> print(model.blanket("mu"))
        parents: none
        children: y
        co-parents: tau
        """
        graph = self.graph
        names = [s.name for s in graph.statements]
        if name not in names:
            raise ModelError(
                f"{self.name}.blanket({name!r}): found no variable of that name, expected one of "
                f"{shown(names)}."
            )
        return blanket(graph, name)

    @property
    def data(self) -> dict[str, np.ndarray]:
        """The values of all data and index arrays, observed arrays and masks, by name.

        Observed values have the type of the distribution's values: whole numbers, or floats.
        """
        whole = {n: self._is_whole(n) for n in self.declared.observed}
        values = self.declared.values
        return {n: typed(v, is_whole=whole[n]) if n in whole else v for n, v in values.items()}

    @property
    def known(self) -> dict[str, np.ndarray]:
        """The values of the arrays that are wholly known (placeholders are not)."""
        gaps = {n for n, o in self.declared.observed.items() if not o.known.all()}
        return {n: v for n, v in self.declared.values.items() if n not in gaps}

    @property
    def coords(self) -> dict[str, np.ndarray]:
        """The labels of the positions along each dimension; they are numbers unless given."""
        return {n: as_array(c) for n, c in self.positions.items()}

    @property
    def positions(self) -> dict[str, np.ndarray | range]:
        """The labels of the positions along each dimension, as a range where these are counted."""
        return {**self._coords, **{d.name: self._coords[base(d)] for d in self._primed()}}

    @property
    def labels(self) -> dict[str, Sequence[Hashable]]:
        """The labels of dimensions, without dimensions that were given by size alone."""
        told = {n: c for n, c in self._coords.items() if n not in self._sized}
        return {n: c if isinstance(c, range) else _listed(c) for n, c in told.items()}

    def size(self, dim: Dim | str) -> int:
        """The number of positions along a dimension, a primed one, or a copy of one."""
        if not self.has_dim(dim):
            raise unsized(base(dim))
        return len(self._coords[base(dim)])

    def counted(self, dim: Dim | str) -> int:
        """The size of a dimension, of which an expression is made."""
        self.declared.counted.add(base(dim))
        return self.size(dim)

    def are_alike(self, one: Dim, other: Dim) -> bool:
        """Whether dims are one, or have equally many positions, of which an expression is made."""
        return base(one) == base(other) or self.counted(one) == self.counted(other)

    def has_dim(self, dim: Dim | str) -> bool:
        """Whether a dimension is known."""
        return base(dim) in self._coords

    def add_dim(self, dim: str, labels: GivenLabels, owner: str = "coords") -> None:
        """Make a dimension known, with its labels or its size."""
        if not isinstance(dim, str) or dim == "" or root_of(Dim(dim)) != dim or "'" in dim:
            raise ModelError(
                f"{owner}: the dimension name {dim!r} is not a word; primes and subscripts are "
                "kept for the second side of square matrices and for copies: choose another name."
            )
        self.claim(dim, "a dimension")
        self._coords[dim] = labels_of(labels, dim, owner)
        if isinstance(labels, (int, np.integer)):
            self._sized.add(dim)
        for name, declare in self.waiting.ready(self.has_dim):
            del self._names[name]
            with self:
                declare()

    def open_dims(self, dims: Iterable[Dim], exprs: Iterable[Expr]) -> frozenset[str]:
        """Those of some dimensions of which no size is known, and what expressions wait for.

        A name that is nearly that of a known dimension is a mistake, and waits for nothing.
        """
        unknown = {base(d) for d in dims if not self.has_dim(d)}
        new = {n for n in unknown if nearest(n, self._coords) is None}
        for name in new:
            check_name(name, "a dimension")
        return self.waiting.of(exprs) | new

    def label(self, dim: str, labels: np.ndarray | range, *, is_sized: bool) -> None:
        """Let a dimension have other positions, with labels or by their number alone."""
        self._coords[dim] = labels
        self._sized = self._sized | {dim} if is_sized else self._sized - {dim}

    def dims(self, names: str | Iterable[str] | None, owner: str) -> tuple[Dim, ...]:
        """The dimensions of these names, refused unless known and all different."""
        dims = dims_named(names, owner)
        for dim in dims:
            if not self.has_dim(dim):
                raise ModelError(
                    f"{owner}: unknown dimension {dim.name!r}; known are "
                    f"{', '.join(self._coords) or 'none'}: add it to the model's coords, or "
                    "declare data along it before."
                )
        return dims

    def in_order(self, dims: Iterable[Dim]) -> tuple[Dim, ...]:
        """The dimensions in order of declaration, each before its primed copy."""
        order = {name: i for i, name in enumerate(self._coords)}
        return tuple(sorted(dims, key=lambda d: (order.get(base(d), len(order)), d.name)))

    def claim(self, name: str, what: str) -> None:
        """Reserve a name, which must be unique in the model."""
        check_name(name, what)
        if name in self._names:
            raise ModelError(
                f"{name}: declared twice, as {self._names[name]} and as {what}; names are unique "
                "in a model: rename one of them."
            )
        self._names[name] = what

    def declare(self, variable: Variable, what: str) -> None:
        """Make an array known."""
        self.claim(variable.name, what)
        self.declared.variables[variable.name] = variable

    def forget(self, name: str) -> None:
        """Take an array with known values out of what is declared, if it is there."""
        for told in (self.declared.variables, self.declared.values, self._names):
            told.pop(name, None)

    def _variables(self) -> dict[str, Variable]:
        """The arrays, with kind ``data`` where every element is observed."""
        found = dict(self.declared.variables)
        for name in dict.fromkeys(s.target.array.name for s in self.declared.statements):
            own = [s for s in self.declared.statements if s.target.array.name == name]
            found[name] = replace(
                found[name],
                kind="random" if any(s.is_latent for s in own) else "data",
                integer=self._is_whole(name),
            )
        return found

    def _is_whole(self, name: str) -> bool:
        """Whether all values of a random array are whole numbers, its known elements too."""
        fixed = self.declared.numbers.get(name, np.zeros(()))
        own = [s for s in self.declared.statements if s.target.array.name == name]
        return all(s.support.is_discrete for s in own) and bool((fixed == np.floor(fixed)).all())

    @property
    def sizes(self) -> dict[Dim, int]:
        """The size of every dimension and of its primed one."""
        return self._sizes(tuple(Dim(name + "'") for name in self._coords))

    def _sizes(self, primes: tuple[Dim, ...]) -> dict[Dim, int]:
        return {d: self.size(d) for d in (*map(Dim, self._coords), *primes)}

    def _primed(self) -> tuple[Dim, ...]:
        """The primed dimensions in use, by the declaration of the unprimed ones."""
        used = {d for v in self.declared.variables.values() for d in v.dims}
        used |= {d for s in self.declared.statements for d in s.event}
        said = [e for s in self.declared.statements for _, e in s.arguments]
        said += [p.log_density for p in self.declared.potentials]
        said += [d.value for d in self.declared.deterministics]
        used |= {Dim(root_of(d)) for e in said for d in e.atoms(Dim)}
        return self.in_order(d for d in used if "'" in d.name)


def _listed(labels: np.ndarray) -> tuple[Hashable, ...]:
    """Labels as values of Python, times as texts."""
    return tuple((labels.astype(str) if labels.dtype.kind in "mM" else labels).tolist())


def typed(values: np.ndarray, *, is_whole: bool) -> np.ndarray:
    """Numbers as whole numbers or as floats; whole ones that no integer can hold stay floats."""
    if is_whole and values.dtype.kind == "f" and (np.abs(values) >= LARGEST_INTEGER).any():
        return values
    return values.astype(np.intp if is_whole else np.float64, copy=False)


def current_model(owner: str) -> Model:
    """The innermost model that is open, for the declaration of ``owner``."""
    models = _OPEN.get()
    if not isinstance(owner, str):
        raise ModelError(f"found the name {shown(owner)}; expected a text: a name comes first.")
    if not models:
        raise ModelError(
            f"{owner}: declared outside a model; put the declaration under `with gp.Model():`."
        )
    return models[-1]
