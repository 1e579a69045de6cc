"""Simulated data of the programs of ecology."""

from bugs_programs import Field

PROGRAMS = Field("ecology")


@PROGRAMS.program("lambda p", inits=lambda data: {"N": data["y"].max(1)})
def n_mixture(rng):
    """Repeated counts at sites, some animals of which are not seen."""
    abundance = rng.poisson(5.0, 20)
    return {"R": 20, "T": 3, "y": rng.binomial(abundance[:, None], 0.4, (20, 3))}
