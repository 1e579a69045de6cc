"""Made-up input of every kind gives a result or an error of ours: no other exception, no hang.

Nothing that stands in a name, a label or a file runs as code. See ``fuzz``.
"""

import pytest
from fuzz.kinds import KINDS, script
from fuzz.scripts import CANARY, checked_run, reduced

# How many numbers of each kind are tried every day, and how many now and then.
EVERY_DAY = {"bugs": 50, "data": 30, "cli": 30, "python": 50, "injection": 5}
MANY = {"bugs": 2000, "data": 1000, "cli": 1000, "python": 2000, "injection": 100}
BLOCK = 10  # cases of a test


def blocks(counts, first=0):
    return [
        (kind, range(at, min(at + BLOCK, first + count)))
        for kind, count in counts.items()
        for at in range(first, first + count, BLOCK)
    ]


def check(kind, seeds):
    for seed in seeds:
        lines = script(kind, seed)
        finding = checked_run(lines)
        if finding is not None:
            kept = "\n".join(reduced(lines, finding))
            pytest.fail(f"{kind} {seed}: {finding.signature}: {finding.told}\n{kept}")


@pytest.mark.parametrize(("kind", "seeds"), blocks(EVERY_DAY), ids=str)
def test_made_up_input_is_read_or_refused(kind, seeds):
    check(kind, seeds)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seeds"), blocks(MANY, first=1000), ids=str)
def test_much_made_up_input_is_read_or_refused(kind, seeds):
    check(kind, seeds)


# ---- what would be found ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (["x = 1", "gp.bugs", "from gibbsppl.model.graph import Graph", "Graph()"], None),
        (
            [
                "from gibbsppl.model.positions import *",
                "import gibbsppl.algebra.notation as n",
                "n._missing",
            ],
            None,
        ),
        (["from gibbsppl.errors import nearest", "nearest(None, ['x'])"], "AttributeError"),
        ([f"exec('{CANARY}()')"], "text that ran as code"),
        (["while True: pass"], "TooLongError"),
        (["gp.Model(coords={'i': 0})", "raise ValueError"], None),
        (["raise gp.ModelError(' ')"], "a message of a strange size"),
    ],
)
def test_what_is_a_finding(lines, what):
    finding = checked_run(lines, limit=0.3)

    assert (finding and finding.what) == what


def test_findings_are_reduced_to_the_lines_that_make_them():
    lines = ["x = 1", "from gibbsppl.errors import nearest", "y = 2", "nearest(None, ['x'])", "z"]

    assert reduced(lines, checked_run(lines)) == [lines[1], lines[3]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_script_is_a_function_of_its_number(kind):
    scripts = [script(kind, seed) for seed in range(20)]

    assert scripts == [script(kind, seed) for seed in range(20)]
    assert len(set(map(tuple, scripts))) > 10
