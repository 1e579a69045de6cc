"""The kinds of made-up input, and the script of each number."""

from random import Random

from fuzz import bugs_programs, command_lines, data_files, declarations, injections

KINDS = {
    "bugs": bugs_programs.script,
    "data": data_files.script,
    "cli": command_lines.script,
    "python": declarations.script,
    "injection": injections.script,
}


def script(kind, seed):
    """The lines of a case: a function of its kind and number."""
    return KINDS[kind](Random(f"{kind} {seed}"))  # noqa: S311  (no secret)
