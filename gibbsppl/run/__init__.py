"""Runs of a compiled sampler: chains, recorded draws, progress.

Knows no distribution.
"""
