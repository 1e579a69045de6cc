"""What notebooks show: well-formed, escaped, and the same facts as in print."""

import pickle
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
import models
from gibbsppl.algebra.expressions import Array, Dim, Greatest, LogDet, Over, Times
from gibbsppl.algebra.functions import Below, Equals, Phi, Softplus, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.notation import Notation
from gibbsppl.checks.results import Row, Verification
from gibbsppl.display.formulas import Formulas
from gibbsppl.display.markup import LATEX, MATHML
from gibbsppl.display.statements import latex_of, lines_of
from gibbsppl.html import Html, Text, block, table
from gibbsppl.output.draws import Draws
from models import bugs


def parsed(html):
    """HTML as a tree: ours is XML, too."""
    return ET.fromstring(f"<body>{html}</body>")  # noqa: S314  (our own)


def rows_of(html):
    """The rows of the first table, as lists of texts."""
    found = next(parsed(html).iter("table")).iter("tr")
    return [["".join(cell.itertext()) for cell in row] for row in found]


# ---- formulas --------------------------------------------------------------------------------

i, t, x, y, tau = Dim("i"), Dim("time"), Array("x"), Array("y"), Array("tau", positive=True)[()]
CASES = (
    (x[i], "x_{i}"),
    (x[t - 1], r"x_{\mathrm{time} - 1}"),
    (Array("mu_a")[i], r"\mu_{a , i}"),
    (x[y[i]], "x_{y_{i}}"),
    (-tau / 2, r"- \frac{\tau}{2}"),
    (1 / tau, r"\frac{1}{\tau}"),
    (tau ** sp.Rational(1, 2), r"\sqrt{\tau}"),
    (tau ** (x[i] / 2), r"{\tau}^{\frac{x_{i}}{2}}"),
    (sp.Rational(1, 10**6) * tau, r"{10}^{- 6} \, \tau"),
    ((x[i] - tau) ** 2, r"{(x_{i} - \tau)}^{2}"),
    (tau * (x[i] - 1), r"\tau \, (x_{i} - 1)"),
    (Over(x[i], i), r"\sum_{i} x_{i}"),
    (Over(x[i] + 1, i), r"\sum_{i} (x_{i} + 1)"),
    (Over(x[i], i, 1, 4), r"\sum_{i = 1 , \dots , 3} x_{i}"),
    (Over(x[i] * Equals(y[i], t), i), r"\sum_{i , y_{i} = \mathrm{time}} x_{i}"),
    (Over(x[i], i) * tau, r"\tau \, \sum_{i} x_{i}"),
    (Over(x[i], i) ** 2, r"{\left( \sum_{i} x_{i} \right)}^{2}"),
    (Times(x[i], i), r"\prod_{i} x_{i}"),
    (Greatest(x[i], i), r"\max_{i} x_{i}"),
    (sp.pi * tau, r"\tau \, \pi"),
    (loggamma(tau), r"\log \Gamma ( \tau )"),
    (Phi(tau), r"\Phi ( \tau )"),
    (Softplus(tau), r"\log ( 1 + \exp ( \tau ) )"),
    (Below(tau, x[i]), r"[\tau < x_{i}]"),
    (LogDet(x[i, t], i, t), r"\log ( \det ( x ) )"),
    (
        Where(Below(tau, 1), x[i], tau),
        r"\begin{cases} x_{i} & \text{if } \tau < 1 \\ \tau & \text{otherwise} \end{cases}",
    ),
)


@pytest.mark.parametrize(("expr", "latex"), CASES, ids=lambda v: str(v)[:30])
def test_expressions_are_typeset(expr, latex):
    notation = Notation({i: 5, t: 7})

    assert Formulas(LATEX, notation).formula(expr) == latex
    parsed(Formulas(MATHML, notation).formula(expr))


@pytest.mark.parametrize("name", models.NAMES)
def test_all_models_are_typeset(name):
    graph = getattr(models, name).model().graph
    text = latex_of(graph)

    assert text.count(r"\left") == text.count(r"\right")
    depth = np.cumsum([(ch == "{") - (ch == "}") for ch in re.sub(r"\\[{}]", "", text)])
    assert depth.min() == depth[-1] == 0
    printed = str(graph).splitlines()
    lines = lines_of(graph, MATHML)
    assert len(lines) == len(printed) == text.count("\n\\\\\n") + 1
    assert [n.remark.endswith("observed") for n in lines] == [
        p.endswith(", observed") for p in printed
    ]
    for line in lines:
        for formula in (line.left, line.sign, line.right, line.region):
            parsed(formula)


def test_cases_within_cases_are_listed():
    found = Formulas(LATEX, Notation({i: 5})).formula(
        Where(Below(tau, 1), x[i], Where(Below(tau, 2), 0, tau))
    )

    assert found.count("cases") == 2
    assert found.count(r"\text{if } ") == 2
    assert found.endswith(r"0 & \text{if } \tau < 2 \\ \tau & \text{otherwise} \end{cases}")


def test_parameters_are_those_that_were_written():
    with gp.Model() as model:
        gp.Normal("y", 0, sigma=2, observed=1.0)

    assert r"\sigma = 2" in latex_of(model.graph)


def test_truncation_censoring_and_missing_values_are_said():
    with gp.Model(coords={"i": 3}) as model:
        gp.Normal("x", 0, sigma=2, lower=1)
        seen = np.ma.masked_invalid([1.0, np.nan, 2.0])
        gp.Normal("y", 0, sigma=2, dims="i", observed=seen)
    told = [line.remark for line in lines_of(model.graph, LATEX)]

    assert told[0] == "truncated to (1, )"
    assert told[1].startswith("observed where")


# ---- pages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["eight_schools", "hidden_markov", "ising", "dirichlet_process"])
def test_the_page_of_a_model_has_its_lines_and_its_picture(name):
    model = getattr(models, name).model()
    page = model._repr_html_()

    assert len(rows_of(page)) == len(str(model.graph).splitlines())
    assert model.plot().svg in page
    assert model._repr_latex_() == f"$$\n{latex_of(model.graph)}\n$$"


@pytest.mark.slow
@pytest.mark.parametrize("name", bugs.CASES | bugs.MORE)
def test_the_examples_of_bugs_have_pages(name):
    case = (bugs.CASES | bugs.MORE)[name]
    model = gp.read_bugs(case.model, case.data)

    assert len(rows_of(model._repr_html_())) == len(str(model.graph).splitlines())
    assert model._repr_latex_().count(r"\left") == model._repr_latex_().count(r"\right")


def test_a_model_that_is_not_whole_says_so():
    with gp.Model(coords={"i": 3}) as model:
        x = gp.Array("x", dims="i")
        x[0] = gp.Normal(0, sigma=1)

    assert "x" in "".join(parsed(model._repr_html_()).itertext())
    assert model._repr_latex_() is None
    with pytest.raises(gp.ModelError):
        model.graph  # noqa: B018


def test_the_page_of_a_sampler_has_a_row_for_each_step():
    sampler = gp.compile(models.rats.model(), blocks=False)
    header, *rows = rows_of(sampler._repr_html_())
    costs = sampler.costs()

    assert header[1:3] == ["variables", "drawn by"]
    assert [row[0] for row in rows] == [str(n + 1) for n in range(len(sampler.schedule.steps))]
    for row, step in zip(rows, sampler.schedule.steps, strict=True):
        assert row[2] == step.owner
        assert row[5] == f"{costs[step.name].operations:,.0f}"
        assert "eta = (" in row[4]


def test_fallbacks_and_what_is_held_fixed_are_shown():
    with gp.Model() as model:
        x = gp.Normal("x", 0, sigma=1)
        gp.Normal("y", gp.expit(x), sigma=1, observed=0.3)
    page = gp.compile(model)._repr_html_()

    assert "fallback: x" in page
    assert parsed(page).find(".//td/span[@style='color:#d9480f;font-weight:600']") is not None
    interwoven = rows_of(gp.compile(models.seeds.model())._repr_html_())
    assert any("held fixed" in row[1] and len(row) == 2 for row in interwoven)


def test_the_page_of_a_verification_is_its_table():
    good = Row("mu", "exact", "Normal", 1e-12, 1e-9)
    bad = Row("a < b", "exact", "Normal", 0.5, 1e-9)
    passed, failed = Verification((good,))._repr_html_(), Verification((good, bad))._repr_html_()

    assert rows_of(failed)[2] == ["a < b", "exact", "Normal", "5.0e-01", "1.0e-09", "FAILED"]
    assert "verification: proved" in passed
    assert "verification: FAILED" in failed
    assert "color:#d9480f" in failed
    assert "color:#d9480f" not in passed


def some_draws():
    rng = np.random.default_rng(1)
    values = {"theta": rng.normal(size=(2, 50, 12)), "mu": rng.normal(size=(2, 50))}
    values["mu"][1] += 5
    labels = np.array([f"<b>{n}&" for n in range(12)])
    return Draws(values, {"theta": ("school",)}, {"school": labels})


def test_the_page_of_draws_tells_variables_and_sizes():
    draws = some_draws()
    _, theta, mu = rows_of(draws._repr_html_())

    assert theta[:5] == ["theta", "school 12", "12", "float64", "50"]
    assert mu[5:] == [f"{draws['mu'].mean():.4g}", f"{draws['mu'].std():.3g}"]


def test_the_page_of_a_summary_has_its_numbers_and_marks_those_to_worry_about():
    summary = some_draws().summary()
    page = summary._repr_html_()
    header, *rows = rows_of(page)
    printed = repr(summary).split("\n\n")[1].splitlines()

    assert [row for row in rows if len(row) == 1] == [["theta[...] 2 more"]]
    assert header[1:] == printed[0].split()
    for row, line in zip(rows, printed[1:], strict=True):
        assert re.sub(r"\s+", "", "".join(row)) == re.sub(r"\s+", "", line)
    marked = {"".join(s.itertext()) for s in parsed(page).iter("span")
              if "d9480f" in s.get("style")}  # fmt: skip
    assert f"{summary['mu']['r_hat']:.3f}" in marked
    assert "ESS is below" in page


def test_labels_are_escaped():
    page = some_draws().summary()._repr_html_()

    assert "&lt;b&gt;0&amp;" in page
    assert "<b>0" not in page
    assert table(("<i>",), [("<u>",)]).count("<i>") == 0
    assert block("td", Html("<i>x</i>"), "<u>") == "<td><i>x</i>&lt;u&gt;</td>"


def test_explanations_show_their_text():
    sampler = gp.compile(models.coin.model())
    for text in (sampler.explain("p"), sampler.explain(), sampler.source, sampler.rewrites):
        assert isinstance(text, Text)
        assert pickle.loads(pickle.dumps(text)) == text
        (shown,) = parsed(text._repr_html_()).iter("pre")
        assert shown.text == str(text)


def test_what_prints_a_table_shows_it():
    sampler = gp.compile(models.coin.model())
    costs = sampler.costs()
    (shown,) = parsed(costs._repr_html_()).iter("pre")

    assert shown.text == str(costs)


# ---- all that a user gets back ---------------------------------------------------------------


@pytest.fixture(scope="module")
def looked_at():
    """The values that a user gets back and looks at, by how they were asked for."""
    model = models.pumps.model()
    sampler = gp.compile(model)
    draws = sampler.sample(60, warmup=20, chains=2, seed=1, progress=False, backend="numpy")
    wide = sampler.log_likelihood(draws)
    return {
        "model": model,
        "model.graph": model.graph,
        "model.blanket": model.blanket("theta"),
        "sampler": sampler,
        "sampler.schedule": sampler.schedule,
        "sampler.explain": sampler.explain("theta"),
        "sampler.rewrites": sampler.rewrites,
        "sampler.source": sampler.source,
        "sampler.costs": sampler.costs(),
        "sampler.verify": sampler.verify(),
        "sampler.dic": sampler.dic(draws, seed=1),
        "sampler.maximise": sampler.maximise(starts=1, seed=1, progress=False),
        "draws": draws,
        "draws.summary": draws.summary(),
        "draws.correlations": draws.correlations(),
        "draws.loo": wide.loo(),
        "gp.compare_models": gp.compare_models({"one": wide.loo(), "other": wide.loo()}),
    }


def test_all_that_is_looked_at_is_shown_in_html_and_in_latex(looked_at):
    for what, value in looked_at.items():
        html, latex = value._repr_html_(), value._repr_latex_()
        assert "".join(parsed(html).itertext()).strip(), what
        assert latex.startswith((r"\begin{verbatim}", "$$")), what
        assert "object at 0x" not in html, what


def test_a_schedule_is_a_table_of_its_steps(looked_at):
    schedule = looked_at["sampler.schedule"]
    rows = rows_of(schedule._repr_html_())

    assert [row[1] for row in rows[1:]] == [s.name for s in schedule.steps]
    printed = str(schedule).splitlines()
    assert printed[0] == f"Schedule of {schedule.graph.name}: 3 steps"
    for line, row in zip(printed[1:], rows[1:], strict=True):
        assert line.split() == " ".join(row).split()
    assert repr(schedule) == f"<{printed[0]}>"


def test_no_text_ends_its_verbatim_block():
    latex = Text("a\n\\end{verbatim}\nb")._repr_latex_()

    assert latex.count(r"\end{verbatim}") == 1
