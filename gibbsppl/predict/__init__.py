"""Predictions, conditional means and deviance of draws.

Draws from the prior, which need no run, are here too.
"""
