import pymc as pm

# task
class Adding:
    def __init__(self):
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def __call__(self, trace, draw):
        if not draw.tuning:
            self.n += 1
            off = draw.point["level"] - self.mean
            self.mean = self.mean + off / self.n
            self.m2 = self.m2 + off * (draw.point["level"] - self.mean)


added = Adding()
with model:
    spread = model["spread"]
    kept = pm.sample(400, trace=[spread], cores=1, callback=added, random_seed=1)
level = added.mean
# done
