"""What is asked of draws afterwards: predictions, conditional means, deviance.

Draws from the prior, which need no run, are here too.
"""
