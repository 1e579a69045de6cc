"""Runs of a compiled sampler: chains, recorded draws, progress.

Knows no distribution. `sampling` runs a program: warm-up, draws, failures, Ctrl-C; `chains` are
states with their streams of random numbers; `recording` stores what is kept, whole numbers in
the smallest `integer_types`; `progress` is shown. `engines` carry out sweeps, in NumPy or as
compiled loops; `choice` says which.
"""
