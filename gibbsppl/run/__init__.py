"""Runs of a compiled sampler: chains, what is recorded of them, progress.

Knows no distribution.
"""
