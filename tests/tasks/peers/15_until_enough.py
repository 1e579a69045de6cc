import arviz as az
import pymc as pm

# task
class Enough:
    def __init__(self):
        self.started = time.monotonic()

    def __call__(self, trace, draw):
        if draw.draw_idx % 100 or draw.tuning:
            return
        ess = az.ess(trace.get_values("spread")[None])
        if ess > 500 or time.monotonic() - self.started > 60:
            raise KeyboardInterrupt


with model:
    idata = pm.sample(20_000, callback=Enough(), random_seed=1, progressbar=False)
# done
