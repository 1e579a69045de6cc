"""Pictures of models: what overlaps, what is inside of what, where edges end, what is lit."""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy.optimize import minimize

import gibbsppl as gp
import models
from gibbsppl.display.blankets import roles_of
from gibbsppl.display.layers import rows_of, without_circles
from gibbsppl.display.methods import picture
from gibbsppl.display.nodes import KINDS, Link, Net, Node, plate_net
from gibbsppl.display.order import Bend, Side, _Crossings, ordered, with_bends
from gibbsppl.display.places import Box, layout_of
from gibbsppl.display.separations import settled
from gibbsppl.display.svg import svg_of
from gibbsppl.display.text_widths import width_of
from gibbsppl.model.graph_views import blanket, dag
from models import bugs

SVG = "{http://www.w3.org/2000/svg}"
# Coordinates are written to a hundredth.
ROUNDED = 0.02
GRAPHS = {name: getattr(models, name).model().graph for name in ("rats", "hidden_markov")}


def graph_of(name):
    """The graph of a model, made once."""
    if name not in GRAPHS:
        GRAPHS[name] = getattr(models, name).model().graph
    return GRAPHS[name]


def box_of(group):
    rect = group.find(SVG + "rect")
    return Box(*(float(rect.get(k)) for k in ("x", "y", "width", "height")))


def text_boxes(group):
    """The boxes of the texts of a group, by the table of widths."""
    for text in group.findall(SVG + "text"):
        size, x, y = (float(text.get(k)) for k in ("font-size", "x", "y"))
        wide = width_of(text.text, size)
        left = x - wide * {"middle": 0.5, "end": 1.0, "start": 0.0}[text.get("text-anchor")]
        yield Box(left, y - 0.8 * size, wide, size)


def overlap(a, b):
    return a.x < b.right and b.x < a.right and a.y < b.bottom and b.y < a.bottom


def contains(outer, inner):
    return (
        outer.x <= inner.x and inner.right <= outer.right
        and outer.y <= inner.y and inner.bottom <= outer.bottom
    )  # fmt: skip


def on_side(point, box):
    """Whether a point is on the outline of a box, corners of any roundness left out."""
    x, y = point
    at_ends = min(abs(y - box.y), abs(y - box.bottom)) <= ROUNDED
    at_sides = min(abs(x - box.x), abs(x - box.right)) <= ROUNDED
    return (at_ends and box.x + 10 - ROUNDED <= x <= box.right - 10 + ROUNDED) or (
        at_sides and box.y <= y <= box.bottom
    )


def path_points(line):
    """Points along a path of straight lines and cubic curves."""
    found = []
    for command, text in re.findall(r"([MLC])([^MLC]*)", line):
        numbers = [tuple(map(float, p.split(","))) for p in text.split()]
        if command == "C":
            corners = np.array([found[-1], *numbers])
            for t in np.linspace(0.05, 1, 20):
                weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]
                found.append(tuple(weights @ corners))
        else:
            found += numbers
    return found


def faults(svg, net):
    """What is wrong with the picture of a net."""
    root = ET.fromstring(svg)  # noqa: S314  (our own)
    groups = {kind: [g for g in root.iter(SVG + "g") if g.get("class") == kind]
              for kind in ("node", "plate", "edge", "key")}  # fmt: skip
    nodes = {g.get("data-node"): box_of(g) for g in groups["node"]}
    plates = {tuple(g.get("data-plate").split("/")): box_of(g) for g in groups["plate"]}
    whole = Box(0, 0, float(root.get("width")), float(root.get("height")))
    texts = [b for kind in ("node", "plate", "key") for g in groups[kind] for b in text_boxes(g)]
    found = [f"{n} is not drawn" for n in {n.name for n in net.nodes} ^ set(nodes)]
    found += [f"{n} is outside" for n, b in (nodes | plates).items() if not contains(whole, b)]
    found += [f"{a} and {b} overlap" for a, b in combinations(nodes, 2)
              if overlap(nodes[a], nodes[b])]  # fmt: skip
    found += [f"texts overlap: {a}, {b}" for a, b in combinations(texts, 2) if overlap(a, b)]
    for group in groups["node"]:
        own = box_of(group)
        found += [f"{group.get('data-node')}: wide" for t in text_boxes(group)
                  if not contains(own, t)]  # fmt: skip
    for a, b in combinations(plates, 2):
        if b[: len(a)] == a and not contains(plates[a], plates[b]):
            found.append(f"{b} is not in {a}")
        if b[: len(a)] != a and a[: len(b)] != b and overlap(plates[a], plates[b]):
            found.append(f"{a} and {b} overlap")
    for node in net.nodes:
        inside = [p for p, box in plates.items() if contains(box, nodes[node.name])]
        if sorted({p[-1] for p in inside}) != sorted(node.dims) or len(inside) != len(node.dims):
            found.append(f"{node.name} is in {inside}, not {node.dims}")
        found += [f"{node.name} is on a side of {p}" for p, box in plates.items()
                  if p not in inside and overlap(box, nodes[node.name])]  # fmt: skip
    return found + edge_faults(groups["edge"], nodes, net)


def edge_faults(groups, nodes, net):
    found = []
    drawn = [Link(g.get("data-source"), g.get("data-target")) for g in groups]
    if sorted(map(str, drawn)) != sorted(map(str, net.links)):
        found.append(f"edges {drawn}, not {net.links}")
    for link, group in zip(drawn, groups, strict=True):
        points = path_points(group.find(SVG + "path").get("d"))
        ends = ((points[0], link.source), (points[-1], link.target))
        found += [f"{link} does not end at {n}" for p, n in ends if not on_side(p, nodes[n])]
        for name, box in nodes.items():
            inner = Box(box.x + 1, box.y + 1, box.width - 2, box.height - 2)
            if any(overlap(Box(*p, 0.001, 0.001), inner) for p in points):
                found.append(f"{link} passes {name}")
        if net.directed:
            tip = path_points(group.findall(SVG + "path")[1].get("d").rstrip("Z"))[0]
            if np.hypot(*np.subtract(tip, points[-1])) > ROUNDED:
                found.append(f"the arrow of {link} is not at its end")
    return found


@pytest.mark.parametrize("kind", ["plates", "factors"])
@pytest.mark.parametrize("name", models.NAMES)
def test_nothing_overlaps_and_edges_end_where_they_should(name, kind):
    graph = graph_of(name)
    made = picture(graph, kind, blanket_of=None, data=True)

    assert faults(made.svg, made.layout.net) == []

    lit = picture(graph, kind, blanket_of=graph.latent[0].name, data=False)
    assert faults(lit.svg, lit.layout.net) == []
    assert not any(n.kind == "data" and "fixed" not in n.name for n in lit.layout.net.nodes)


@pytest.mark.parametrize("seed", range(12))
def test_nothing_overlaps_in_random_graphs(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 25))
    dims = [tuple(d for d in "ijk" if rng.random() < 0.35) for _ in range(count)]
    nodes = tuple(
        Node(f"x{n}", "latent", ("x" * int(rng.integers(1, 12)), "Normal")[: 1 + n % 2], "", d)
        for n, d in enumerate(dims)
    )
    pairs = {tuple(map(int, rng.integers(0, count, 2))) for _ in range(int(1.3 * count))}
    links = tuple(Link(f"x{a}", f"x{b}") for a, b in sorted(pairs))
    net = Net("random", nodes, links, dict.fromkeys("ijk", 1234567))

    wrong = faults(svg_of(layout_of(net), None, "random"), net)

    assert wrong == []


EXAMPLES = bugs.CASES | bugs.MORE


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plates", "factors"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_overlaps_in_the_examples_of_bugs(name, kind):
    made = gp.read_bugs(EXAMPLES[name].model, EXAMPLES[name].data).plot(kind)

    assert faults(made.svg, made.layout.net) == []


def test_two_fixed_regions_of_an_array_are_two_nodes():
    with gp.Model(coords={"i": 5}) as model:
        x = gp.Array("x", dims="i")
        x[0] = 0
        x[1:3] = gp.Normal(0, sigma=1)
        x[3:] = 0
        gp.Normal("y", x, sigma=1, dims="i", observed=np.ones(5))
    net = plate_net(model.graph)
    fixed = [n for n in net.nodes if "fixed" in n.name]

    assert [n.lines for n in fixed] == [("x[0] = 0",), ("x[i] = 0", "i = 3..4")]
    assert {k.source for k in net.links if k.target == "y"} == {*(n.name for n in fixed), "x[1:3]"}


def shifted(layout, **changes):
    return replace(layout, **changes)


def test_a_fault_would_be_found():
    layout = picture(GRAPHS["rats"], "plates", blanket_of=None, data=True).layout
    boxes, net = dict(layout.boxes), layout.net
    over = shifted(layout, boxes=boxes | {"a": boxes["b"]})
    out = shifted(layout, boxes=boxes | {"mu_a": boxes["weight"]})
    plate = replace(layout.plates[0], box=Box(0, 0, layout.width, layout.height))
    wide = shifted(layout, plates=(plate, *layout.plates[1:]))
    edge = layout.edges[0]
    loose = shifted(
        layout, edges=(replace(edge, points=(*edge.points[:-1], (0, 0))), *layout.edges[1:])
    )
    lost = shifted(layout, edges=layout.edges[1:])

    for wrong, what in ((over, "overlap"), (out, "is in"), (wide, "is in"),
                        (loose, "does not end"), (lost, "edges")):  # fmt: skip
        assert any(what in f for f in faults(svg_of(wrong, None, ""), net)), what


# ---- what is shown ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", models.NAMES)
def test_edges_are_those_of_the_model_when_computed_arrays_are_looked_through(name):
    graph = graph_of(name)
    net = plate_net(graph)
    kinds = {n.name: n.kind for n in net.nodes}
    into = {}
    for link in net.links:
        into.setdefault(link.target, set()).add(link.source)

    def sources(node):
        for source in into.get(node, ()):
            yield from sources(source) if kinds[source] == "computed" else [source]

    found = {(s, n) for n in dag(graph) for s in sources(n) if kinds[s] != "data"}
    assert found == set(dag(graph).edges)


def test_a_computed_array_that_an_argument_is_written_by_stands_between():
    with gp.Model(coords={"i": 3}) as model:
        a, b = gp.Normal("a", 0, sigma=1), gp.Normal("b", 0, sigma=1)
        line = gp.Deterministic("line", a + b * gp.Data("x", [1.0, 2.0, 3.0], dims="i"))
        gp.Normal("y", line, sigma=1, dims="i", observed=[1.0, 2.0, 3.0])
    net = plate_net(model.graph)

    assert {(k.source, k.target) for k in net.links} == {
        ("a", "line"), ("b", "line"), ("x", "line"), ("line", "y"),
    }  # fmt: skip
    assert roles_of(net, {"a"}) == {
        "a": "variable", "y": "child", "line": "between", "b": "co-parent", "x": "data",
    }  # fmt: skip


def test_a_computed_array_of_the_output_alone_has_no_children():
    net = plate_net(GRAPHS["rats"])

    assert {k.source for k in net.links if k.target == "alpha0"} == {"mu_a", "mu_b"}
    assert not any(k.source == "alpha0" for k in net.links)
    assert "alpha0" not in roles_of(net, {"mu_a"})


@pytest.mark.parametrize("name", models.NAMES)
def test_lit_nodes_are_the_markov_blanket(name):
    graph = graph_of(name)
    net = plate_net(graph)
    for statement in graph.latent:
        roles = roles_of(net, {statement.name})
        lit = {n for n, role in roles.items() if role in ("parent", "child", "co-parent")}
        told = blanket(graph, statement.name)
        assert lit == {*told.parents, *told.children, *told.co_parents}
        assert {n for n in lit if roles[n] == "parent"} == set(told.parents)
        assert {n for n in lit if roles[n] == "child"} == set(told.children) - set(told.parents)


def test_the_factors_that_mention_a_variable_are_lit_in_a_factor_graph():
    made = picture(GRAPHS["rats"], "factors", blanket_of="tau_b", data=True)

    assert made.roles == {
        "tau_b": "variable", "factor tau_b": "between", "factor b": "between", "b": "child",
        "mu_b": "co-parent",
    }  # fmt: skip


def test_regions_lags_and_fixed_values_are_shown():
    net = plate_net(GRAPHS["hidden_markov"])
    told = {n.name: n.lines for n in net.nodes}

    assert told["z[0]"] == ("z[0]", "Categorical over state")
    assert told["z[1:]"][0::2] == ("z[year]", "year = 1..106")
    assert Link("z[1:]", "z[1:]") in net.links


def test_the_picture_of_a_sampler_has_auxiliary_variables():
    with gp.Model(coords={"i": 3}) as model:
        mu = gp.Normal("mu", 0, sigma=10)
        gp.StudentT("y", nu=4, mu=mu, sigma=1, dims="i", observed=[1.0, 2.0, 9.0])
    sampler = gp.compile(model)

    assert [n.name for n in model.plot().layout.net.nodes] == ["mu", "y"]
    assert set(sampler.schedule.auxiliary) < {n.name for n in sampler.plot().layout.net.nodes}
    assert sampler.plot(blanket_of="mu").roles["mu"] == "variable"


def test_a_density_that_is_written_out_is_no_lag():
    sampler = gp.compile(models.seeds.model())
    links = sampler.plot().layout.net.links

    assert not any(k.source == k.target for k in links)
    assert Link("effect", "germinated_omega") in links


@pytest.mark.slow
@pytest.mark.parametrize("name", models.NAMES)
def test_samplers_are_drawn_with_every_blanket(name):
    sampler = gp.compile(getattr(models, name).model())
    drawn = dict.fromkeys(n for s in sampler.schedule.steps for n in sampler.schedule.drawn_by(s))
    ET.fromstring(f"<body>{sampler._repr_html_()}</body>")  # noqa: S314  (our own)

    for made in (sampler.plot(), sampler.plot("factors"),
                 *(sampler.plot(kind, blanket_of=n) for n in drawn for kind in KINDS)):
        assert faults(made.svg, made.layout.net) == []
        assert made.roles is None or "variable" in made.roles.values()


def test_texts_are_escaped():
    nodes = (Node('<b>"&', "latent", ("<b>&\x00",), "a < b"),)
    svg = svg_of(layout_of(Net("n", nodes, (), {})), None, "a & b")
    root = ET.fromstring(svg)  # noqa: S314  (our own)

    assert root.find(SVG + "title").text == "a & b"
    assert [t.text for t in root.iter(SVG + "text")] == ["<b>&\ufffd"]


def test_pictures_are_shown_and_saved(tmp_path):
    made = models.rats.model().plot()

    assert made._repr_svg_() == made.save(tmp_path / "rats.svg").read_text(encoding="utf-8")
    assert made.svg in made._repr_html_()
    assert repr(made) == "<Diagram of model: 10 nodes, 10 edges, 3 plates>"


def test_what_does_not_fit_is_told(tmp_path):
    model = models.rats.model()
    with pytest.raises(gp.ModelError, match="Did you mean 'tau_b'"):
        model.plot(blanket_of="taub")
    with pytest.raises(gp.ModelError, match='"plates" or "factors"'):
        model.plot("plate")
    with pytest.raises(gp.ModelError, match=r"ends in \.svg"):
        model.plot().save(tmp_path / "rats.png")


# ---- passes ----------------------------------------------------------------------------------


def test_circles_are_cut_by_few_edges():
    ring = [(str(n), str((n + 1) % 5)) for n in range(5)]
    cut = without_circles(map(str, range(5)), ring)

    assert sum(a != b for a, b in zip(ring, cut, strict=True)) == 1
    rows = rows_of(dict.fromkeys(map(str, range(5)), ()), cut)
    assert all(rows[a] < rows[b] for a, b in cut)


def crossings(edges, paths):
    rows = with_bends(rows_of(paths, edges), paths, edges)
    order = ordered(rows)
    assert len(set(order)) == len(order)
    return int(_Crossings(rows, order).cost(order)), order


@pytest.mark.parametrize("seed", range(5))
def test_trees_have_no_crossings(seed):
    rng = np.random.default_rng(seed)
    edges = [(f"n{rng.integers(0, n)}", f"n{n}") for n in range(1, 20)]
    paths = {f"n{n}": () for n in rng.permutation(20)}

    assert crossings(edges, paths)[0] == 0


def test_a_graph_that_cannot_do_without_crossings_has_the_fewest():
    complete = [(a, b) for a in "abc" for b in "xyz"]

    assert crossings(complete, dict.fromkeys("abcxyz", ()))[0] == 9


def test_what_is_in_a_plate_stands_between_its_sides():
    paths = {"a": (), "b": ("i",), "c": ("i", "j"), "d": ()}
    edges = [("a", "b"), ("b", "c"), ("a", "d"), ("a", "c")]
    _, order = crossings(edges, paths)
    at = {thing: n for n, thing in enumerate(order)}

    for plate in (("i",), ("i", "j")):
        inside = [n for n, p in paths.items() if p[: len(plate)] == plate]
        left, right = at[Side(plate, "left")], at[Side(plate, "right")]
        assert all((left < at[n] < right) == (n in inside) for n in paths)
    assert any(isinstance(t, Bend) for t in order)


@pytest.mark.parametrize("seed", range(5))
def test_positions_are_the_best_that_separations_allow(seed):
    rng = np.random.default_rng(seed)
    count = 8
    ties = [(*map(int, rng.choice(count, 2, replace=False)), float(rng.uniform(1, 3)))
            for _ in range(10)]  # fmt: skip
    apart = [(a, b, float(rng.uniform(5, 90))) for a, b in pairwise(range(count))
             if rng.random() < 0.7]  # fmt: skip
    found = settled(count, ties, apart)

    def energy(x):
        return sum(w * (x[a] - x[b]) ** 2 for a, b, w in ties) + 1e-3 * x @ x

    constraints = [{"type": "ineq", "fun": lambda x, a=a, b=b, g=g: x[b] - x[a] - g}
                   for a, b, g in apart]  # fmt: skip
    start = found + rng.normal(size=count)
    other = minimize(energy, start, constraints=constraints, method="SLSQP",
                     options={"ftol": 1e-12, "maxiter": 500})  # fmt: skip
    assert all(found[b] >= found[a] + gap for a, b, gap in apart)
    assert energy(found) <= other.fun * (1 + 1e-6)
