"""The command line: ``gibbsppl run | explain | source | check | graph | predict FILE``.

FILE is a Python file with a function ``model()`` that returns a ``gp.Model``, or a program in the
language of BUGS, whose data are in other files. What goes wrong with a model is one message on
stderr and exit code 2; a check that fails is exit code 1.
"""

# Printing is what a command line is for.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import gibbsppl
from gibbsppl.cli import arguments, folders, questions
from gibbsppl.cli.arguments import KERNELS, count_of, kernel_of, names_of, rates_of
from gibbsppl.cli.model_files import is_python, model_of
from gibbsppl.errors import GibbspplError, RunError

if TYPE_CHECKING:
    from gibbsppl.initial.inits import Init
    from gibbsppl.language import Model
    from gibbsppl.output.draws import Draws
    from gibbsppl.output.until import Until
    from gibbsppl.sampler import Sampler
    from gibbsppl.settings import Settings

FAILED, MISUSED, STOPPED = 1, 2, 130

# What can be monitored besides variables.
DEVIANCE, PENALTY = "deviance", "pD"

# What --start takes.
STARTS = ("pilot", "prior", "optimum", "variational")


def main(typed: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = _parsed(sys.argv[1:] if typed is None else typed)
    try:
        code = int(options.command(options))
        sys.stdout.flush()
    except GibbspplError as error:
        print(f"gibbsppl: {error}", file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt as stopped:
        told = str(stopped) or "stopped before the first draw"
        print(f"gibbsppl: {told}", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        # The reader (head, less) has seen enough; what is still buffered must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (OSError, MemoryError) as error:
        print(f"gibbsppl: {error or 'not enough memory'}", file=sys.stderr)
        return FAILED
    return code


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command, which stand before, between or after what has no name."""
    root = parser()
    commands = next(a.choices for a in root._actions if isinstance(a.choices, dict))  # noqa: SLF001
    if arguments and arguments[0] in commands:
        found: argparse.Namespace = commands[arguments[0]].parse_intermixed_args(arguments[1:])
        return found
    return root.parse_args(arguments)


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    root = argparse.ArgumentParser(
        prog="gibbsppl",
        description="Derive, explain, check and run the Gibbs sampler of a model.",
        epilog="FILE is a Python file (.py) with a function model() that returns a gp.Model, or a "
        "program in the language of BUGS or JAGS (any other name).",
    )
    version = f"gibbsppl {gibbsppl.__version__}"
    root.add_argument("--version", action="version", version=version)
    commands = root.add_subparsers(required=True, metavar="COMMAND")
    told = "draw from the posterior and save the draws"
    _run_options(_command(commands, "run", run, told, is_needed=False))
    explain_options = _command(commands, "explain", explain, "print the derivation, step by step")
    explain_options.add_argument("variable", nargs="?", help="one variable (default: all)")
    source_options = _command(commands, "source", source, "print the generated NumPy module")
    source_options.add_argument("--out", type=Path, help="write it to this file instead")
    check_options = _command(commands, "check", check, "compare every conditional with the joint")
    check_options.add_argument("--seed", type=count_of, default=0, help="(default: 0)")
    check_options.add_argument("--json", action="store_true", help="print the result as JSON")
    told = "print the statements of a model, or what depends on what"
    questions.add_graph_options(_command(commands, "graph", questions.graph, told))
    told = "print predictions at new data, from draws that have been saved"
    questions.add_predict_options(_command(commands, "predict", predict, told))
    return root


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    function: Callable[[argparse.Namespace], int],
    text: str,
    *,
    is_needed: bool = True,
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    made.add_argument(
        "file", type=Path, metavar="FILE", help="a Python file with a model(), or a BUGS program",
        nargs=None if is_needed else "?",
    )  # fmt: skip
    made.add_argument(
        "--data", type=Path, action="append", default=[], metavar="PATH",
        help="data of a BUGS program (R dump, BUGS list or table, JSON, CSV, Parquet, npz, "
        "netCDF); may be given again",
    )  # fmt: skip
    made.set_defaults(command=function, usual=made.get_default)
    schedule = made.add_argument_group("the schedule")
    schedule.add_argument(
        "--order", type=names_of, default=(), metavar="X,Y",
        help="draw these variables first, in this order",
    )  # fmt: skip
    schedule.add_argument(
        "--scan", choices=("systematic", "random", "symmetric"), default="systematic",
        help="how steps follow one another (default: systematic)",
    )  # fmt: skip
    schedule.add_argument(
        "--kernel", type=kernel_of, action="append", default=[], metavar="X=KERNEL",
        help=f"the kernel of a variable: {', '.join(KERNELS)}; of several that are moved together: "
        "X,Y=nuts",
    )  # fmt: skip
    return made


def _run_options(run_options: argparse.ArgumentParser) -> None:
    for name, default, text in (
        ("draws", 1000, "draws kept per chain"),
        ("warmup", 500, "sweeps before the first draw"),
        ("chains", 4, "independent chains"),
        ("thin", 1, "sweeps per draw kept"),
    ):
        help_text = f"{text} (default: {default})"
        run_options.add_argument(f"--{name}", type=count_of, default=default, help=help_text)
    run_options.add_argument(
        "--inits", type=Path, action="append", default=[], metavar="PATH",
        help="initial values, for all chains; given again, one file for each chain",
    )  # fmt: skip
    run_options.add_argument(
        "--start", choices=STARTS, default=STARTS[0],
        help="where chains start that have no initial values (default: the best of pilot runs)",
    )  # fmt: skip
    run_options.add_argument(
        "--monitor", type=rates_of, default={}, metavar="X,Y:10",
        help="variables to record, with :10 one draw in 10 (default: all but large arrays of "
        f"labels and counts); also {DEVIANCE} and {PENALTY}",
    )  # fmt: skip
    for name, text in (
        ("ess", "end the run at so many effective draws of every quantity"),
        ("r-hat", "end the run when every R-hat is as small (with --ess: when both are reached)"),
        ("minutes", "end the run after so many minutes"),
    ):
        run_options.add_argument(f"--{name}", type=float, metavar="NUMBER", help=text)
    run_options.add_argument(
        "--cores", type=count_of,
        help="processes to draw chains in (default: all cores, if there is work for them)",
    )  # fmt: skip
    run_options.add_argument(
        "--tune", action="store_true",
        help="draw by the best of several variants of the sampler, found by pilot runs",
    )  # fmt: skip
    folders.add_options(run_options)
    run_options.add_argument("--coda", metavar="PREFIX", help="write files of the CODA format too")
    run_options.add_argument("--seed", type=count_of, help="a whole number (default: a fresh one)")
    run_options.add_argument(
        "--out", type=Path,
        help="the netCDF file (default: <FILE's name>.nc; none for draws in a folder)",
    )  # fmt: skip
    run_options.add_argument("--quiet", action="store_true", help="print where the draws are only")
    run_options.add_argument("--json", action="store_true", help="print the summary as JSON only")


def _rule(options: argparse.Namespace) -> Until | None:
    """The rule that ends the run, if one is asked for."""
    asked = {"ess": options.ess, "r_hat": options.r_hat, "minutes": options.minutes}
    if all(x is None for x in asked.values()):
        return None
    from gibbsppl.output.until import until  # noqa: PLC0415  (if asked for)

    return until(**asked)


def run(options: argparse.Namespace) -> int:
    """Print the schedule, sample, print the summary, save the draws."""
    started = perf_counter()
    say = _silent if options.quiet or options.json else print
    if options.resume is not None:
        return folders.resumed(options, say, started)
    folders.check(options)
    out = folders.out_of(options)
    if out is not None:
        _writable(out)
    _check_coda(options)
    recorded = {n: k for n, k in options.monitor.items() if n not in (DEVIANCE, PENALTY)}
    model = model_of(options.file, options.data, tuple(recorded))
    inits = _inits(options.inits, model)
    seed = _fresh_seed() if options.seed is None else options.seed
    sampler = compiled(model, options)
    sampler = sampler.tuned(seed) if options.tune else sampler
    told = tuple(recorded) or _told(sampler, options)
    say(sampler, end="\n\n")
    drawn = sampler.sample(
        options.draws,
        warmup=options.warmup,
        chains=options.chains,
        seed=seed,
        thin=options.thin,
        init=inits,
        start=options.start,
        keep=_kept(sampler, options, recorded, told),
        cores=options.cores,
        until=_rule(options),
        progress=not options.quiet,
        **folders.settings(options),
    )
    told = tuple(n for n in told or drawn if n in drawn) or tuple(drawn)
    # Saved first: what is computed from draws may need more memory than there is.
    if out is not None:
        _saved(drawn.only(told), out)
    where = out or options.checkpoint
    try:
        draws, dic = _monitored(sampler, drawn, options, told, seed)
        say(_starts(draws), draws.summary(), f"\n\n{dic}".rstrip(), sep="", end="\n\n")
        if DEVIANCE in options.monitor and out is not None:
            _saved(draws, out)
        if options.coda is not None:
            index, *chains = draws.save_coda(options.coda)
            say(f"CODA files written: {', '.join(map(str, (index, *chains)))}")
    except (MemoryError, GibbspplError) as error:
        raise RunError(f"{error or 'not enough memory'} (draws written to {where})") from error
    if options.json:
        rows = draws.summary().to_dict()
        questions.print_json({"draws": str(where), "seed": seed, "summary": rows})
        return 0
    seconds = f"{perf_counter() - started:.1f} s in all"
    starting = f"{drawn.attributes['starting_seconds']:.1f} s for starts"
    print(f"draws written to {where} (seed {seed}, {seconds}, {starting})")
    return 0


def _monitored(
    sampler: Sampler,
    drawn: Draws,
    options: argparse.Namespace,
    told: tuple[str, ...],
    seed: int,
) -> tuple[Draws, str]:
    """The draws of what is monitored, the deviance too, and the penalty as text."""
    draws = sampler.deviance(drawn) if DEVIANCE in options.monitor else drawn
    dic = f"{sampler.dic(draws, seed=seed)}\n\n" if PENALTY in options.monitor else ""
    named = tuple(n for n in options.monitor if n != PENALTY)
    return draws.only(named or told), dic


def _told(sampler: Sampler, options: argparse.Namespace) -> tuple[str, ...] | None:
    """The variables reported by default: of a program its own, else all (None)."""
    if is_python(options.file):
        return None
    from gibbsppl.bugs.quantities import as_in_the_program  # noqa: PLC0415  (for programs alone)

    return as_in_the_program(sampler.graph)


def _kept(
    sampler: Sampler,
    options: argparse.Namespace,
    recorded: Mapping[str, int],
    told: tuple[str, ...] | None,
) -> Mapping[str, int] | None:
    """Of how many draws of which variables one is recorded: as asked, and for the deviance.

    None by default.

    The deviance may need what is left out by default.
    """
    if not {DEVIANCE, PENALTY} & set(options.monitor):
        return recorded or None
    from gibbsppl.predict.deviance import needed  # noqa: PLC0415  (only when asked for)

    graph = sampler.graph
    reported = told or (*graph.drawn, *(d.name for d in graph.deterministics))
    return {n: recorded.get(n, 1) for n in (*reported, *needed(graph))}


def _inits(paths: Sequence[Path], model: Model) -> Init:
    """Initial values for all chains, or for each."""
    if not paths:
        return None
    from gibbsppl.bugs.inits import read_inits  # noqa: PLC0415  (only with initial values)

    found = [read_inits(path, model) for path in paths]
    return found[0] if len(found) == 1 else found


def _fresh_seed() -> int:
    """A seed that no other run has, short enough to be typed again."""
    return secrets.randbits(32)


def _silent(*_: object, **__: object) -> None:
    """In place of print."""


def _starts(draws: Draws) -> str:
    """A line on the variables not started at a draw from their prior; empty without any."""
    ruled = draws.attributes.get("started_by_rule")
    return f"started by rule, their priors being too vague: {ruled}\n\n" if ruled else ""


def _writable(path: Path) -> Path:
    """The path, refused before a long run rather than after it."""
    from gibbsppl.output.whole_files import check_writable  # noqa: PLC0415  (not for --help)

    check_writable("--out", path)
    return path


def _check_coda(options: argparse.Namespace) -> None:
    """Refuse files of the CODA format that cannot be written, before a long run."""
    if options.coda is not None:
        from gibbsppl.output.coda import coda_files  # noqa: PLC0415  (only when asked for)
        from gibbsppl.output.whole_files import check_writable  # noqa: PLC0415  (only when asked for)

        # (the name of the last is the longest)
        ends = dict.fromkeys((0, max(0, options.chains - 1)))
        check_writable("--coda", *coda_files(options.coda, ends))


def _saved(draws: Draws, out: Path) -> Path:
    """The file with the saved draws; an error if another file than ``out`` had to do."""
    try:
        draws.save(out)
    except RunError as error:
        for folder in (tempfile.gettempdir(), Path.home()):
            kept = Path(folder) / f"{out.stem}-{secrets.token_hex(4)}.nc"
            try:
                draws.save(kept)
            except RunError:
                continue
            raise RunError(f"--out: {error} The draws are kept in {kept}.") from error
        raise
    return out


def explain(options: argparse.Namespace) -> int:
    """Print the derivation of one variable's conditional, or of all."""
    print(_sampler(options).explain(options.variable))
    return 0


def source(options: argparse.Namespace) -> int:
    """Print the generated module, or write it to a file."""
    out = None if options.out is None else _writable(options.out)
    text = _sampler(options).source
    if out is None:
        print(text, end="")
    else:
        from gibbsppl.output.whole_files import whole  # noqa: PLC0415  (not for --help)

        with whole(out) as (unfinished,):
            unfinished.write_text(text, encoding="utf-8")
        print(f"written to {out}")
    return 0


def predict(options: argparse.Namespace) -> int:
    """Print predictions at new data."""
    return questions.predict(options, _sampler(options))


def check(options: argparse.Namespace) -> int:
    """Run the exact ratio check of every conditional; the exit code says whether all passed."""
    result = _sampler(options).verify(options.seed)
    if options.json:
        rows = [{"step": r.step, "kind": r.kind, "passed": bool(r.passed)} for r in result.rows]
        told = {"passed": bool(result.passed), "proved": bool(result.proved), "rows": rows}
        questions.print_json(told)
    else:
        print(result)
    return 0 if result.passed else FAILED


def _settings(options: argparse.Namespace) -> Settings:
    """The settings of the schedule, as `compile` takes these."""
    named = arguments.kernels_by_variable(options.kernel)
    kernels = {names: getattr(gibbsppl, KERNELS[kernel])() for names, kernel in named.items()}
    return {"order": options.order, "scan": options.scan, "kernels": kernels}


def compiled(model: Model, options: argparse.Namespace) -> Sampler:
    """The sampler of a model, with the settings of the schedule."""
    from gibbsppl.compiling import compile as compile_model  # noqa: PLC0415  (--help loads no SymPy)

    return compile_model(model, **_settings(options))


def _sampler(options: argparse.Namespace) -> Sampler:
    """The sampler of the model in a file."""
    return compiled(model_of(options.file, options.data), options)
