"""The command line: `command` has the subcommands, `model_files` reads what they are given.

`folders` are runs that are begun in a folder, or gone on with; `arguments` are read from texts;
`questions` are commands that draw nothing; `tables` reads files of data, and `users_files` tells
which line of a user's file went wrong.
"""

from gibbsppl.cli.command import main

__all__ = ["main"]
