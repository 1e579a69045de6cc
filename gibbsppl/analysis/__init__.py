"""Facts proved of expressions: bounds, signs, curvature, domains.

Answers are certain or missing, never guesses.
"""
