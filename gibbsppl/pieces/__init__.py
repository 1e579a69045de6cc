"""From log densities to pieces: each a coefficient times a statistic of the target.

What stands between, gates and logs of products and indicators, is taken apart here.
"""
