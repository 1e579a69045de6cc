"""Choices of all kinds: what else there was, what it costs, and by which settings it is made."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import gibbsppl as gp
import models
from gibbsppl.comparing import alternatives
from gibbsppl.comparing.variants import candidates_of
from gibbsppl.errors import CompileError
from gibbsppl.planning import alternatives as planning
from gibbsppl.runtime.cache_folder import VARIABLE
from gibbsppl.schedule import choices as choosing
from gibbsppl.schedule.choices import Candidate, Choice, choices_told
from models.bugs import CASES

T = np.arange(6.0)
K = np.exp(-0.5 * np.subtract.outer(T, T) ** 2) + 0.1 * np.eye(6)
DOSE = np.array([0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def curve(**settings):
    """Three numbers, each of which depends on each: moved together along paths."""
    with gp.Model(name="curve", coords={"i": 8}) as model:
        power, half, bend = (gp.Gamma(n, 2, rate=1) for n in ("power", "half", "bend"))
        dose = gp.Data("dose", DOSE, dims="i")
        mean = dose**power / (half + dose**power) ** bend
        gp.Normal("y", mean, sigma=0.3, dims="i", observed=DOSE / (1 + DOSE))
    return gp.compile(model, **settings)


def process(**settings):
    """Exponentials of a smooth process, with noise: along an ellipse, or element by element."""
    with gp.Model(name="process", coords={"t": 6}) as model:
        cov = gp.Data("K", K, dims=("t", "t'"))
        x = gp.MvNormal("x", 0.3, cov=cov, dims="t", event="t")
        gp.Normal("y", gp.exp(x), sigma=1, dims="t", observed=[1.0, 0.0, 3.0, 4.0, 2.0, 6.0])
    return gp.compile(model, **settings)


def returns(**settings):
    """Log variances, by a mixture that a ratio corrects."""
    with gp.Model(name="returns", coords={"t": 12}) as model:
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, sigma=1.5)
        h[1:] = gp.Normal(h.lag("t"), sigma=0.8)
        seen = np.resize([0.3, -1.2, 2.0, 0.01, -0.4], 12)
        gp.Normal("y", 0, sigma=gp.exp(h / 2), dims="t", observed=seen)
    return gp.compile(model, **settings)


def wide(rows=12, columns=60, **settings):
    """More coefficients than rows of data."""
    x = np.sin(np.outer(np.arange(1, rows + 1), np.arange(1, columns + 1)))
    with gp.Model(name="wide", coords={"row": rows, "column": columns}) as model:
        design = gp.Data("design", x, dims=("row", "column"))
        tau, own = gp.Gamma("tau", 1, rate=1), gp.Gamma("own", 2, rate=1, dims="column")
        beta = gp.Normal("beta", 0, tau=own, dims="column")
        gp.Normal("y", design @ beta, tau=tau, dims="row", observed=np.cos(np.arange(rows)))
    return gp.compile(model, **settings)


def outliers(**settings):
    """A heavy tail: a scale for each outcome."""
    with gp.Model(name="outliers", coords={"i": 5}) as model:
        mu = gp.Normal("mu", 0, tau=0.1)
        gp.StudentT("y", nu=4, mu=mu, tau=1, dims="i", observed=[0.1, 0.4, -0.3, 8.0, 0.2])
    return gp.compile(model, **settings)


def rates(**settings):
    """A shape in no family, drawn by adaptive rejection."""
    with gp.Model(name="rates", coords={"i": 4}) as model:
        shape = gp.Exponential("shape", rate=1)
        gp.Gamma("y", shape, rate=2, dims="i", observed=[0.5, 1.0, 2.0, 0.7])
    return gp.compile(model, **settings)


def scores(**settings):
    """Two coefficients, proposed about their mode."""
    with gp.Model(name="scores", coords={"i": 6}) as model:
        a, b = gp.Normal("a", 0, tau=0.1), gp.Normal("b", 0, tau=0.1)
        x = gp.Data("x", T, dims="i")
        gp.Poisson("y", gp.exp(a + b * x), dims="i", observed=[1, 0, 2, 3, 5, 8])
    return gp.compile(model, **settings)


def missing(**settings):
    """A missing outcome, which nothing else sees."""
    with gp.Model(name="missing", coords={"i": 4}) as model:
        mu, tau = gp.Normal("mu", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        seen = np.ma.masked_array([1.0, 2.0, 0.0, 1.5], [0, 0, 1, 0])
        gp.Normal("y", mu, tau=tau, dims="i", observed=seen)
    return gp.compile(model, **settings)


def mixture(**settings):
    """Labels that see shares, which may be integrated out."""
    with gp.Model(name="mixture", coords={"i": 6, "k": 2}) as model:
        share = gp.Dirichlet("share", 1.0, dims="k", event="k")
        z = gp.Categorical("z", share, dims="i", event="k")
        mu = gp.Normal("mu", 0, tau=0.1, dims="k")
        gp.Normal("y", mu[z], tau=1, dims="i", observed=T)
    return gp.compile(model, **settings)


def plates(**settings):
    """Successes on plates with an effect each: with auxiliary variables all is normal."""
    with gp.Model(name="plates", coords={"row": 5}) as model:
        level, tau = gp.Normal("level", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        effect = gp.Normal("effect", 0, tau=tau, dims="row")
        seen = [10, 23, 25, 7, 18]
        gp.Binomial("y", 40, gp.expit(level + effect), dims="row", observed=seen)
    return gp.compile(model, **settings)


def shares(**settings):
    """Shares that no family owns."""
    with gp.Model(name="shares", coords={"k": 3}) as model:
        w = gp.Dirichlet("w", 2.0, dims="k")
        gp.Normal("y", gp.exp(w).sum("k"), sigma=0.3, observed=4.2)
    return gp.compile(model, **settings)


def direction(**settings):
    """A unit vector that no family owns."""
    with gp.Model(name="direction", coords={"k": 3}) as model:
        north = gp.Data("north", [1.0, 0.0, 0.0], dims="k")
        v = gp.VonMisesFisher("v", mu=north, kappa=1.0, dims="k")
        gp.Normal("y", gp.exp(v).sum("k"), sigma=1, observed=2.0)
    return gp.compile(model, **settings)


KINDS = [
    (curve, "power, half, bend together by NUTS", "one by one"),
    (process, "x one by one", "by elliptical slice and one by one"),
    (process, "x one by one", "by elliptical slice alone"),
    (returns, 'h with "log chi-squared"', 'without "log chi-squared"'),
    (wide, "beta by rows of data", "by the precision matrix"),
    (partial(wide, rows=58), "beta by the precision matrix", "by rows of data"),
    (outliers, 'mu with "power of a sum"', 'without "power of a sum"'),
    (rates, "shape by adaptive rejection", "by slice"),
    (shares, "w by slice", "together by NUTS"),
    (scores, "a, b proposed", "one by one"),
    (missing, "y drawn last", "drawn with all others"),
    (mixture, "share, mu not collapsed", "share collapsed"),
]


def choice_of(sampler, made):
    every = sampler._counted_choices()
    found = [c for c in every if f"{', '.join(c.variables)} {c.made.what}" == made]
    assert found, [str(c) for c in every]
    return found[0]


@pytest.mark.parametrize(("compiled", "made", "other"), KINDS)
def test_each_kind_of_choice_is_told_with_the_cost_of_its_alternative(compiled, made, other):
    sampler = compiled()
    choice = choice_of(sampler, made)
    (candidate,) = (c for c in choice.others if c.what == other)
    asked = compiled(**candidate.settings)

    assert choice.made.operations == sampler.costs().operations
    assert candidate.operations == asked.costs().operations > 0
    assert asked.schedule.ways != sampler.schedule.ways
    assert asked.verify().passed
    told = next(line for line in choices_told(sampler._counted_choices()) if line.startswith(made))
    assert " (alternative" in told
    ratio = candidate.operations / sampler.costs().operations
    assert (" cheaper" if ratio < 1 else " dearer") in candidate.beside(choice.made) or (
        0.95 < ratio < 1.05
    )


@pytest.mark.parametrize(("compiled", "made", "other"), KINDS)
def test_what_is_asked_for_is_not_told_as_a_choice(compiled, made, other):
    (candidate,) = (c for c in choice_of(compiled(), made).others if c.what == other)
    asked = compiled(**candidate.settings)
    names = set(candidate.settings)
    again = [o.settings for c in asked._counted_choices() for o in c.others]

    for name in names:
        value = candidate.settings[name]
        keys = value if isinstance(value, dict) else ()
        changed = [s[name] for s in again if name in s]
        assert all(s[k] == value[k] for s in changed for k in keys)


def test_all_that_is_printed_is_compared_and_tuned():
    sampler = outliers()
    parts = (sampler.graph, sampler.data, sampler.schedule, sampler.settings)
    every = candidates_of(*parts).values()

    for choice in sampler._counted_choices():
        assert all(c.settings in every for c in choice.others)
    alternatives = sampler.costs(alternatives=True).alternatives
    (found,) = (a for a in alternatives if a.name == 'without "power of a sum"')
    (own,) = choice_of(sampler, 'mu with "power of a sum"').others
    assert found.operations == own.operations


def test_no_alternative_is_counted_until_a_schedule_is_printed(monkeypatch):
    def refused(*_):
        raise AssertionError("counted")

    monkeypatch.setattr("gibbsppl.sampler.Sampler._operations_with", refused)
    sampler = outliers()
    sampler.sample(5, warmup=2, chains=1, seed=1, progress=False)
    sampler.costs()
    with pytest.raises(AssertionError, match="counted"):
        sampler.costs(alternatives=True)
    with pytest.raises(AssertionError, match="counted"):
        str(sampler)


@pytest.mark.parametrize("compiled", [outliers, scores, mixture])
def test_alternatives_print_with_their_costs_which_are_counted_once(
    compiled, tmp_path, monkeypatch
):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    sampler = compiled()
    first = str(sampler)
    told = choices_told(sampler._counted_choices())

    assert " ".join(told).count(" (alternative") == len(told) > 0
    assert " ".join(told) in " ".join(first.split())
    assert "not counted" not in first
    assert str(compiled()) == first

    def refused(*_):
        raise AssertionError("counted")

    monkeypatch.setattr("gibbsppl.sampler.Sampler._operations_with", refused)
    assert str(sampler) == first


def test_a_setting_that_changes_nothing_or_is_refused_is_no_alternative(monkeypatch):
    same = Candidate("alone", {"blocks": {"mu": "alone"}})
    no = Candidate("no", {"collapse": ("y",)})

    def planted(_):
        yield Choice(("mu",), Candidate("as it is", {}), (same, no))

    monkeypatch.setattr(alternatives, "KINDS", (planted,))
    sampler = outliers()
    assert [c.what for choice in sampler._choices() for c in choice.others] == ["alone", "no"]
    costs = sampler.costs(alternatives=True)
    assert not {"mu alone", "mu no"} & {a.name for a in costs.alternatives}
    assert "mu as it is" not in str(sampler)


def test_what_no_path_goes_through_is_not_told_as_moved_together():
    assert "together by NUTS" in str(shares())
    assert "by random walk" in str(direction())
    assert "together" not in str(direction())


def test_prints_are_equal_and_have_two_alternatives_at_most():
    first, second = str(process()), str(process())

    assert first == second
    assert max(str(c).count("sweeps") for c in process()._counted_choices()) == 2


def test_choices_about_the_same_variables_have_one_line():
    way = partial(Choice, ("a", "b"))
    joint = way(Candidate("jointly", {}, 10.0), (Candidate("apart", {}, 30.0),))
    kernel = way(
        Candidate("by slice", {}, 10.0),
        (Candidate("by walk", {}, 20.0), Candidate("by rejection", {}, 90.0)),
    )

    others = "by walk, sweeps 2 times dearer; apart, sweeps 3 times dearer"
    assert choices_told([joint, kernel]) == [f"a, b jointly, by slice (alternatives: {others})"]


def test_what_costs_and_mixes_alike_is_not_told():
    made, other = Candidate("jointly", {}, 100.0, 0.5), Candidate("apart", {}, 98.5, 0.5)

    assert choices_told([Choice(("a",), made, (other,))]) == []
    assert choices_told([Choice(("a",), made, (replace(other, share=0.4),))])
    assert choices_told([Choice(("a",), made, (replace(other, operations=90.0),))])


# ---- joint draws by rows, or by the matrix -------------------------------------------------------


def test_the_matrix_of_a_joint_draw_is_that_which_is_asked_for():
    by_rows, by_matrix = wide(), wide(blocks={"beta": "matrix"})

    assert "12 rows" in str(by_rows)
    assert "12 rows" not in str(by_matrix)
    assert "58 rows" in str(wide(rows=58, blocks={"beta": "rows"}))
    tall = wide(rows=70, columns=4, blocks={"beta": "rows"})
    assert "70 rows" in str(tall)
    assert tall.verify().proved


@pytest.mark.parametrize(
    ("compiled", "asked", "told"),
    [
        (outliers, {"mu": "rows"}, "cannot be drawn by a matrix of the order of rows"),
        (curve, {"half": "rows"}, "cannot be drawn by a matrix of the order of rows"),
        (outliers, {"mu": "row"}, "'rows' .jointly, by a matrix"),
    ],
)
def test_a_layout_that_cannot_be_made_is_refused(compiled, asked, told):
    with pytest.raises(CompileError, match=told):
        compiled(blocks=asked)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ({"rewrites": {"power of sum": True}}, "power of a sum"),
        ({"blocks": {"mu": "propose"}}, "proposed"),
        ({"blocks": {"mue": "alone"}}, "mu"),
        ({"interweave": ("mmu",)}, "mu"),
        ({"collapse": ("muu",)}, "mu"),
        ({"scan": "symetric"}, "symmetric"),
        ({"by": {"mu": "men"}}, "mean"),
    ],
)
def test_misspelt_settings_are_told_with_what_was_meant(asked, meant):
    with pytest.raises(CompileError, match=f"Did you mean '{meant}'"):
        outliers(**asked)


# ---- the cost told is that of the sampler which the settings make --------------------------------


def wrongly_told(sampler):
    """The candidates of theory's choices whose settings make a sampler of another cost.

    Of those made: another sampler.
    """
    found, own = [], sampler.schedule
    for choice in own.choices:
        made = sampler._with(**choice.made.settings)
        found += [] if made.schedule.ways == own.ways else [(choice.variables, choice.made.what)]
        for other in choice.others:
            asked = sampler._with(**other.settings)
            is_told = not math.isnan(other.operations)
            assert asked.schedule.ways != own.ways, choice.named(other)
            if is_told and not math.isclose(asked.costs().operations, other.operations):
                found.append((choice.variables, other.what))
    return found


def of_bugs(name):
    case = CASES[name]
    return gp.compile(gp.read_bugs(case.model, case.data))


EVERYDAY = {
    "dyes": lambda: gp.compile(models.dyes.model()),  # (location and scale of one group)
    "salm": lambda: gp.compile(models.salm.model()),  # (elements that nothing ties)
    "pumps": lambda: gp.compile(models.pumps.model()),  # (a number integrated out)
    "horseshoe": lambda: gp.compile(models.horseshoe.model()),  # (a scale with two updates)
    "plates": plates,  # (without auxiliary variables: proposed, if that pays)
}


@pytest.mark.parametrize("name", EVERYDAY)
def test_the_costs_told_at_once_are_those_of_what_the_settings_make(name):
    sampler = EVERYDAY[name]()

    assert sampler.schedule.choices
    assert wrongly_told(sampler) == []


def test_an_update_that_is_left_out_of_a_plan_alone_would_be_told_wrongly(monkeypatch):
    """With no scale to share it with, the update of a location holds something simpler fixed."""

    def planted(model, other):
        names = {i.name for i in other.interwoven}
        left = tuple(i for i in model.interwoven if i.name in names)
        return replace(model, interwoven=left)

    monkeypatch.setattr(planning, "updated", planted)
    assert wrongly_told(EVERYDAY["dyes"]()) == [(("tau_between", "mu"), "not interwoven")]


def test_settings_without_what_was_decided_before_would_be_told_wrongly(monkeypatch):
    monkeypatch.setattr(choosing, "with_decided", lambda decided, settings: dict(settings))
    with pytest.raises(CompileError, match="cannot be drawn together"):
        wrongly_told(plates())


def test_elements_that_no_term_ties_are_drawn_at_once_by_any_reading():
    sampler = gp.compile(models.salm.model())
    asked = sampler._with(blocks=dict.fromkeys(("effect", "level", "beta", "toxicity"), "elements"))

    assert asked.schedule.ways == sampler.schedule.ways


@pytest.mark.parametrize("name", models.NAMES)
def test_every_setting_told_makes_another_schedule_at_the_cost_that_is_told(name):
    sampler = gp.compile(getattr(models, name).model())
    assert wrongly_told(sampler) == []

    for choice in sampler._counted_choices():
        for other in choice.others:
            asked = sampler._with(**other.settings)
            assert asked.schedule.ways != sampler.schedule.ways, choice.named(other)
            if not math.isnan(other.operations):
                assert math.isclose(asked.costs().operations, other.operations, rel_tol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_every_setting_told_of_a_program_of_bugs_has_the_cost_that_is_told(name):
    assert wrongly_told(of_bugs(name)) == []
