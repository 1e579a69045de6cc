"""A regression with an intercept and a slope of each group, by its formula."""

import numpy as np
import pandas as pd

import gibbsppl as gp

rng = np.random.default_rng(6)
group = np.repeat([*"abcdef"], 15)
x = rng.normal(size=90)
intercept, slope = rng.normal(2, 1, 6), rng.normal(-1, 0.5, 6)
at = np.repeat(np.arange(6), 15)
y = intercept[at] + slope[at] * x + rng.normal(0, 0.4, 90)
table = pd.DataFrame({"y": y, "x": x, "group": group})

# task
model = gp.formula("y ~ x + (x | group)", table)
draws = gp.compile(model).sample(500, seed=1, progress=False)
# done

assert abs(draws["b_x"].mean() - slope.mean()) < 4 * draws["b_x"].std()
assert abs(draws["sigma"].mean() - 0.4) < 4 * draws["sigma"].std()
