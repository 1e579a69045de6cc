"""The command line: `command` has the subcommands, `model_files` reads what they are given."""

from gibbsppl.cli.command import main

__all__ = ["main"]
