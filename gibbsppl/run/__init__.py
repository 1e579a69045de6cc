"""Runs of a compiled sampler: chains, recorded draws, progress.

Knows no distribution. `sampling` runs a program: warm-up, draws, failures, Ctrl-C; `chains` are
states with their streams of random numbers; `recording` stores what is kept; `progress` is shown.
"""
