"""BUGS programs: text to trees and back, places in the text, limits, and what no text can do."""

import pickle
import random
import re
import sys
import tempfile
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from bugs_texts import EXPRESSIONS, PROGRAMS, TREES, mutated, seconds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gibbsppl.bugs.expressions import BINARY, DEEPEST_TREE, PREFIX
from gibbsppl.bugs.parse import parse
from gibbsppl.bugs.printing import text, text_of_expression
from gibbsppl.bugs.reader import DEEPEST_NESTING
from gibbsppl.bugs.syntax import (
    LINKS,
    Assignment,
    BugsError,
    Call,
    Declaration,
    Everything,
    Loop,
    Number,
    Operation,
    Position,
    Reference,
    Restriction,
    Stochastic,
)

COMMON = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow],
}


def model(statements):
    return parse(f"model {{ {statements} }}").model


def value(expression):
    (statement,) = model(f"y <- {expression}")
    return statement.value


x, i, j, a, b, c = map(Reference, "xijabc")
one, two = Number(1.0), Number(2.0)


# ---- statements ------------------------------------------------------------------------------

STATEMENTS = {
    "x ~ dnorm(a, b)": Stochastic(x, Call("dnorm", (a, b))),
    "x~dflat()": Stochastic(x, Call("dflat", ())),
    "x[i, 1:2] ~ dmnorm(a[], b[, ])": Stochastic(
        Reference("x", (i, Operation(":", (one, two)))),
        Call(
            "dmnorm",
            (Reference("a", (Everything(),)), Reference("b", (Everything(), Everything()))),
        ),
    ),
    "x[,1] <- 1": Assignment(Reference("x", (Everything(), one)), None, one),
    "x = 1": Assignment(x, None, one),
    "x<-1": Assignment(x, None, one),
    "x ~ dexp(a)T(1,2)": Stochastic(x, Call("dexp", (a,)), Restriction("T", one, two)),
    "x ~ dexp(a) I (1, )": Stochastic(x, Call("dexp", (a,)), Restriction("I", one, None)),
    "x ~ dexp(a)\n  C(,2)": Stochastic(x, Call("dexp", (a,)), Restriction("C", None, two)),
    "x ~ dexp(a)T(,)": Stochastic(x, Call("dexp", (a,)), Restriction("T", None, None)),
    "for (i in 1:2) { }": Loop("i", Operation(":", (one, two)), ()),
    "for(i in x){a<-1;;b<-2}": Loop(
        "i", x, (Assignment(a, None, one), Assignment(b, None, two))
    ),
    "for (i in x[1:2]) { for (j in c(1, 2)) { a = 1 } }": Loop(
        "i",
        Reference("x", (Operation(":", (one, two)),)),
        (Loop("j", Call("c", (one, two)), (Assignment(a, None, one),)),),
    ),
    **{
        f"{link}(x[i]) <- a": Assignment(Reference("x", (i,)), link, a) for link in LINKS
    },
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_is_read(statement):
    assert model(statement) == (STATEMENTS[statement],)


@pytest.mark.parametrize(
    "name", ["x", "tau.c", "a_b", "T", "I", "C", "data", "model", "var", "list", "E1"]
)
def test_names_of_variables(name):
    read = model(f"{name}[1] ~ dnorm({name}, 1)\n{name} <- {name}[1]\nlog({name}) = 1")

    assert {r.target.name for r in read} == {name}
    assert read[1].value == Reference(name, (one,))


def test_a_distribution_before_a_variable_of_the_name_of_a_bound():
    assert [s.target.name for s in model("x ~ dnorm(0, 1)\nT ~ dnorm(0, 1)\nI[1] <- 2 C <- 3")] == [
        *"xTIC"
    ]


# ---- expressions -----------------------------------------------------------------------------

# As written, and with all brackets: the precedence of R.
PRECEDENCE = {
    "-a^2": "-(a^2)",
    "2^-a": "2^(-a)",
    "a^b^c": "a^(b^c)",
    "a**b**c": "a^(b^c)",
    "a^-b^c": "a^(-(b^c))",
    "a^-b*c": "(a^(-b))*c",
    "-a:b": "(-a):b",
    "1:a-1": "(1:a)-1",
    "1:a*2": "(1:a)*2",
    "1:a^2": "1:(a^2)",
    "a %*% b * c": "(a %*% b) * c",
    "a * b %*% c": "a * (b %*% c)",
    "a %*% b %*% c": "(a %*% b) %*% c",
    "1:a %*% b": "(1:a) %*% b",
    "a - b - c": "(a - b) - c",
    "a / b / c": "(a / b) / c",
    "a / b * c": "(a / b) * c",
    "a - b * c": "a - (b * c)",
    "a--b": "a - (-b)",
    "a < b + c": "a < (b + c)",
    "!a == b": "!(a == b)",
    "!a && b": "(!a) && b",
    "a + !b + c": "a + (!(b + c))",
    "a < !b < c": "a < (!(b < c))",
    "a && b || c && a": "(a && b) || (c && a)",
    "a || b && c": "a || (b && c)",
    "a == b && b != c": "(a == b) && (b != c)",
    "- - a": "-(-a)",
    "!!a": "!(!a)",
    "-a * -b": "(-a) * (-b)",
    "a < -b": "a < (-b)",
    "((a))": "a",
}


@pytest.mark.parametrize("written", PRECEDENCE)
def test_operators_bind_as_in_r(written):
    assert value(written) == value(PRECEDENCE[written])


def test_every_pair_of_operators_has_its_order_tested():
    """Each operator stands beside a looser or tighter one in the table above."""
    found = {o for written in PRECEDENCE for o in operators_of(value(written))}

    assert set(BINARY) - found == {">", "<=", ">="}
    assert set(PREFIX) <= found


def operators_of(node):
    match node:
        case Operation():
            yield node.operator
            for part in node.operands:
                yield from operators_of(part)


NUMERALS = {
    "0": 0, "12": 12, "1.": 1, ".5": 0.5, "0.5": 0.5, "1e3": 1000, "1e-3": 0.001, "1.0E-6": 1e-6,
    "1.E+2": 100, ".5e1": 5, "007": 7, "1e-400": 0, "12345678901234567890": 12345678901234567890,
}  # fmt: skip


@pytest.mark.parametrize("numeral", NUMERALS)
def test_numbers(numeral):
    read = value(numeral)

    assert read == Number(float(NUMERALS[numeral]))
    assert type(read.value) is float


def test_an_operand_may_go_on_in_the_next_line():
    assert value("a +\n b\n* c") == value("a + b * c")


# ---- layout and blocks -----------------------------------------------------------------------

PLAIN = """\
var x[2], y;
data { N <- 2 }
model {
  for (i in 1:N) { x[i] ~ dnorm(0, 1) }
  y <- 1
}"""
LAYOUTS = {
    "CR LF": PLAIN.replace("\n", "\r\n"),
    "CR": PLAIN.replace("\n", "\r"),
    "tabs": PLAIN.replace(" ", "\t"),
    "spaces that do not break": PLAIN.replace(" ", "\u00a0"),
    "one line": PLAIN.replace("\n", " "),
    "a mark of byte order": "\ufeff" + PLAIN,
    "comments": "# \u03bc \u2264 'x' \"\n" + PLAIN.replace("\n", " # { } ~ <-\n") + "# end",
    "comments and CR": PLAIN.replace("\n", " # {\r"),
    "comments between": PLAIN.replace(" ", " /* ** / * { \u00e9 \n */ "),
    "equals signs": PLAIN.replace("<-", "="),
    "semicolons": PLAIN.replace(") }", "); };").replace("1\n", "1;;\n"),
    "no space": re.sub(r"(?<!var) (?!in\b)(?<!in )", "", PLAIN).replace("\n", " "),
    "no semicolon": PLAIN.replace(";", ""),
    "another order": "model {\n for (i in 1:N) { x[i] ~ dnorm(0, 1) }\n y <- 1\n}\n"
    "var x[2], y\ndata { N <- 2 }",
    "a name": PLAIN.replace("model", "model rats"),
    "a name and a semicolon": PLAIN.replace("model", "model rats;\n"),
    "a function of R": PLAIN.replace("model", "function ()"),
    "a function of R with a name": PLAIN.replace("model", "my.model <- function( )"),
    "a mark of functions of R": PLAIN.replace("dnorm(0, 1)", "dnorm(0, 1) %_% "),
    "text after it": PLAIN + "\nData\nlist(N = 10, x = c(1, NA))\n'any $ text'",
    "a comment after it": PLAIN + "\n# model { x ~ dnorm(0, 1) }",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_changes_nothing(layout):
    assert parse(LAYOUTS[layout]) == parse(PLAIN)


def test_blocks():
    program = parse(PLAIN)

    assert program.declarations == (Declaration("x", (two,)), Declaration("y"))
    assert program.data == (Assignment(Reference("N"), None, two),)
    assert len(program.model) == 2
    assert parse("model { x <- 1 }").data is None
    assert parse("data { } model { x <- 1 }").data == ()
    assert parse("model { x <- 1 }").declarations == ()


def test_programs_that_differ_are_not_equal():
    assert parse("model { x <- 1 }") != parse("model { x <- 2 }")
    assert parse("model { x <- a }") != parse("model { x <- a[] }")


# ---- places ----------------------------------------------------------------------------------


def nodes_of(value):
    """All nodes below a value, with those in tuples."""
    if isinstance(value, tuple):
        for part in value:
            yield from nodes_of(part)
    elif is_dataclass(value) and not isinstance(value, Position):
        yield value
        for field in fields(value):
            yield from nodes_of(getattr(value, field.name))


def first_word(node):
    """What the text has at the place of a node."""
    match node:
        case Number(number):
            return lambda found: float(re.match(r"[0-9.]+([eE][-+]?[0-9]+)?", found)[0]) == number
        case Reference(name) | Declaration(name) | Call(name):
            return lambda found: found.startswith(name)
        case Operation(operator):
            return lambda found: found.replace("**", "^").startswith(operator)
        case Everything():
            return lambda found: re.match(r"\s*[],]", found)
        case Loop():
            return lambda found: found.startswith("for")
        case Restriction(kind):
            return lambda found: re.match(rf"{kind}\s*\(", found)
        case Assignment(target, link):
            return lambda found: found.startswith(link or target.name)
        case Stochastic(target):
            return lambda found: found.startswith(target.name)


@pytest.mark.parametrize("source", PROGRAMS)
def test_nodes_stand_where_they_say(source):
    program = parse(source)
    lines = program.source.split("\n")
    nodes = [n for n in nodes_of(program) if n is not program]

    assert len(nodes) > 10
    for node in nodes:
        assert first_word(node)(lines[node.at.line - 1][node.at.column - 1 :]), node


def test_the_error_that_the_main_page_shows():
    with pytest.raises(BugsError) as caught:
        parse("model {\n\n\n  for (i in 1:N) {\n\n\n     mu[i] <= alpha\n}}", "rats.bug")

    assert str(caught.value) == (
        "rats.bug, line 7, column 12: found '<=', expected ~ or <-: a line gives a variable its "
        "distribution or its value.\n"
        "    mu[i] <= alpha\n"
        "          ^"
    )


def test_a_caret_stands_below_its_sign_where_there_are_tabs():
    with pytest.raises(BugsError) as caught:
        parse("model {\n\tx\t<=\t3\n}")

    assert str(caught.value).split("\n")[1:] == ["    x\t<=\t3", "     \t^"]


def test_an_error_of_a_program_is_made_by_the_program():
    program = parse("model {\n  y ~ dnorm(mu, tau)\n}", "rats.bug")
    error = program.error(program.model[0].distribution.at, "found mu, expected a value.")

    assert error.at == Position(2, 7)
    assert str(error) == (
        "rats.bug, line 2, column 7: found mu, expected a value.\n    y ~ dnorm(mu, tau)\n        ^"
    )


def test_errors_are_pickled():
    with pytest.raises(BugsError) as caught:
        parse("model {")

    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# ---- files -----------------------------------------------------------------------------------

ACCENTED = "# poids des rats, \u00e9t\u00e9 \u00b5\nmodel { x ~ dnorm(0, 1) }\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_files_of_several_encodings(tmp_path, encoding):
    path = tmp_path / "rats.bug"
    path.write_bytes(ACCENTED.encode(encoding))
    program = parse(path)

    assert program == parse(ACCENTED, "rats.bug")
    assert program.origin == "rats.bug"
    assert parse(path, "mine").origin == "mine"


def test_files_that_cannot_be_read(tmp_path):
    missing = tmp_path / "rats.bug"

    for path in (missing, tmp_path, Path("a\0b")):
        with pytest.raises(BugsError, match=r"cannot be read .*: check the name"):
            parse(path)


def test_what_is_no_text():
    with pytest.raises(BugsError, match=r"text: found a value of type int, expected text or a pat"):
        parse(3)


# ---- limits ----------------------------------------------------------------------------------

# How something is put inside itself, and how many brackets of the limit that takes.
NESTED = {
    "brackets": ("x <- ", "(", "1", ")"),
    "indices": ("x <- ", "y[", "1", "]"),
    "calls": ("x <- ", "exp(", "1", ")"),
    "calls after operators": ("x <- ", "1 || 2 && 3 < 4 + 5 * -6 ^ f(", "1", ")"),
    "loops": ("", "for (i in 1:2) { ", "x <- 1", "}"),
    "targets": ("x[", "y[", "1", "]"),
    "bounds": ("x ~ dexp(1)T(,", "(", "1", ")"),
}


@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting_is_read_to_a_stated_depth(name):
    start, opening, inner, closing = NESTED[name]
    end = {"targets": "] <- 1", "bounds": ")"}.get(name, "")
    room = DEEPEST_NESTING - 1 - len(end.rstrip("1 <-"))

    def nested(depth):
        return f"model {{ {start}{opening * depth}{inner}{closing * depth}{end} }}"

    if name != "calls after operators":
        program = parse(nested(room))
        assert parse(text(program)) == program
    for depth in (room + 1, 10_000):
        with pytest.raises(BugsError, match=f"{DEEPEST_NESTING}"):
            parse(nested(depth))


CHAINS = {"sums": ("", " + 1"), "powers": ("1 ^ ", ""), "signs": ("-", ""), "negations": ("!", "")}
PLACES = {
    "a value": "model {{ x <- {} }}",
    "a target": "model {{ x[y[{}]] <- 1 }}",
    "a distribution": "model {{ x ~ dexp({}) }}",
    "a bound": "model {{ x ~ dexp(1) T(, {}) }}",
    "a loop": "model {{ for (i in {}) {{ }} x <- 1 }}",
    "a declaration": "var x[{}]; model {{ x <- 1 }}",
}
OPERATIONS_AROUND = {"a target": 2, "a distribution": 1}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CHAINS)
def test_long_chains_are_read_to_a_stated_depth(name, place):
    before, after = CHAINS[name]

    def chain(length):
        count = length - OPERATIONS_AROUND.get(place, 0)
        return PLACES[place].format(f"{before * count}1{after * count}")

    program = parse(chain(DEEPEST_TREE))
    assert parse(text(program)) == program
    for length in (DEEPEST_TREE + 1, 2_000):
        with pytest.raises(BugsError, match=f"more than {DEEPEST_TREE} operations"):
            parse(chain(length))


def test_the_limit_leaves_room_for_what_goes_through_a_tree():
    """Equality, hashing and printing call themselves; a caller may be some way down already."""
    depth = DEEPEST_NESTING - 1
    source = f"model {{ x <- {'1 + (' * depth}1{')' * depth} }}"
    taken = 0
    frame = sys._getframe()
    while frame is not None:
        taken, frame = taken + 1, frame.f_back

    def deeper(calls):
        if calls:
            return deeper(calls - 1)
        program = parse(source)
        return parse(text(program)) == program and hash(program) == hash(parse(source))

    assert deeper(max(0, 150 - taken))


def statements(count):
    line = (
        "  for (i in 1:N{0}) {{ y{0}[i] ~ dnorm(mu[i, {0}] + b.{0} * -x[i]^2, 1.5e3)T(0,) "
        "# \u03bc\n }}\n"
    )
    return "model {\n" + "".join(line.format(k) for k in range(count)) + "}"


def test_time_is_linear_in_the_text():
    """Four times the text in less than halfway (on the scale of logarithms) to sixteen times."""
    small, large = statements(300), statements(1200)
    assert 3.9 < len(large) / len(small) < 4.2

    ratios = [
        min(seconds(lambda: parse(large)) for _ in range(2))
        / min(seconds(lambda: parse(small)) for _ in range(2))
        for _ in range(3)
    ]
    assert min(ratios) < 8


def test_a_large_text_is_read():
    source = statements(13_000)
    assert len(source) > 10**6

    program = parse(source)
    assert len(program.model) == 13_000
    assert program.model[-1].at == Position(2 + 2 * 12_999, 3)


BAD_UNITS = (
    "(", "[", "{", "x[", "f(", "-", "!", "1", "1 ", "9.", ".", "a", "a ", " ", "\n", "#", "#\n",
    "/*", "/* * ", "*", '"', "'", "%", "<", "<-", "1e", "x <- 1\n", "x ~ f()\n", "for (i in 1:2) {",
    "model {", "var x, ", "T(", "\0", "\u00e9", ";", ",", "1,", "}", "|", "&&1", "1:2,", "\u2028",
)  # fmt: skip


@pytest.mark.parametrize("start", ["", "model { x <- ", "model { x ~ dnorm(", "model { x <- 1 } "])
def test_bad_texts_take_no_longer_than_good_ones(start):
    size = 60_000
    good = statements(size // 80)

    def bad():
        for unit in BAD_UNITS:
            outcome(start + unit * (size // len(unit)))

    assert seconds(bad) < len(BAD_UNITS) * max(seconds(lambda: parse(good)) for _ in range(3))


# ---- any tree, any text ----------------------------------------------------------------------


@settings(**COMMON, max_examples=150)
@given(TREES)
def test_a_tree_is_read_from_its_text(program):
    assert parse(text(program)) == program


@settings(**COMMON, max_examples=400)
@given(EXPRESSIONS)
def test_an_expression_is_read_from_its_text(expression):
    assert value(text_of_expression(expression)) == expression


@pytest.mark.parametrize("source", PROGRAMS)
def test_programs_are_printed_to_be_read(source):
    program = parse(source)
    printed = text(program)

    assert parse(printed) == program
    assert text(parse(printed)) == printed


def outcome(source):
    """The program of a text, or its error, whose message can be printed and is not endless."""
    try:
        program = parse(source)
    except BugsError as error:
        lines = str(error).split("\n")
        assert len(lines) in (1, 3)
        assert max(map(len, lines)) < 500
        return error
    assert parse(text(program)) == program
    return program


WORDS = (
    *BINARY, *PREFIX, "<-", "=", "~", "(", ")", "[", "]", "{", "}", ",", ";", "for", "in", "model",
    "data", "var", "x", "y.z", "T", "I", "C", "dnorm", "log", "exp", "1", "2.5", "1e-3", "#", "\n",
    "/*", "*/", "if", "%", "'", "$", "\u00e9", "\0", "<<-", "[[", "for (i in 1:2) {", "x <- 1",
    "x ~ dnorm(0, 1)", "model {",
)  # fmt: skip


@settings(**COMMON, max_examples=600)
@given(st.lists(st.sampled_from(WORDS), max_size=40), st.sampled_from(["", " "]), st.booleans())
def test_any_words_are_a_program_or_an_error(words, between, is_inside):
    joined = between.join(words)

    outcome(f"model {{ {joined} }}" if is_inside else joined)


@settings(**COMMON, max_examples=400)
@given(st.text(max_size=200), st.booleans())
def test_any_text_is_a_program_or_an_error(anything, is_inside):
    outcome(f"model {{ {anything}" if is_inside else anything)


@settings(**COMMON, max_examples=200)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_a_program_or_an_error(anything, is_inside):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.bug"
        path.write_bytes((b"model { x <- 1\n" if is_inside else b"") + anything)
        outcome(path)


@pytest.mark.parametrize("source", PROGRAMS)
def test_mutations_of_programs_are_programs_or_errors(source):
    rng = random.Random(6)  # noqa: S311  (no secret)
    found = [type(outcome(mutated(rng, source, WORDS))) for _ in range(700)]

    # Both happen, so that the mutations are neither all harmless nor all broken at once.
    assert len(set(found)) == 2


NESTING = ("(", "x[", "f(", "{", "for (i in x) {", "-", "!", "1+", "2^", "x<-")


@settings(**COMMON, max_examples=300)
@given(st.lists(st.sampled_from(NESTING)), st.integers(1, 400))
def test_any_nesting_is_a_program_or_an_error(units, times):
    outcome("model { x <- " + "".join(units) * times + "1")
