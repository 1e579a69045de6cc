"""Examples of the BUGS volumes as files: model text, data, initial values, reference posteriors.

``CASES`` has those of which references have long been known, ``MORE`` others, which use other parts
of the language. Data and initial values are JSON: nested lists are arrays by rows, null is missing;
there may be names in them that the model does not use. References are of the posterior of each
monitored scalar, from long runs of JAGS 4.3.1: mean, sd, Monte Carlo error of the mean (null of a
constant) and three quantiles. Published versions of the examples have other priors here and there.
"""

import json
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent


class Case(NamedTuple):
    """The files of an example, and the arrays that its references are about."""

    model: Path
    data: Path
    inits: Path
    monitors: tuple[str, ...]

    @property
    def for_jags(self):
        """The model text that JAGS reads: another one of the same posterior, if it refuses this."""
        other = self.model.with_suffix(".jags.bug")
        return other if other.exists() else self.model

    @property
    def references(self):
        """By monitored scalar: mean, sd, mcse, q2.5, q50, q97.5."""
        path = self.data.parent / "references.json"
        name = self.data.name.removesuffix(".data.json")
        return json.loads(path.read_text(encoding="utf-8"))[name]


def _cases(folder, *rows):
    """The cases of a table of names, model texts and monitors."""
    return {
        name: Case(
            folder / f"{model}.bug",
            folder / f"{name}.data.json",
            folder / f"{name}.inits.json",
            tuple(monitors.split()),
        )
        for name, model, monitors in rows
    }


CASES = _cases(
    FOLDER,
    ("dyes_1", "dyes", "theta sigma2.within sigma2.between f.between"),
    ("line_1", "line", "alpha beta sigma tau"),
    ("rats_1", "rats", "alpha0 beta.c"),
    ("rats_2", "rats", "alpha0 beta.c Y"),
    ("pump_1", "pump", "theta alpha beta"),
    ("seeds_1", "seeds", "alpha0 alpha1 alpha2 alpha12 sigma"),
    ("salm_1", "salm", "alpha beta gamma sigma deviance"),
    ("equiv_1", "equiv", "theta equivalence sigma"),
    ("equiv_2", "equiv", "theta equivalence sigma Y"),
    ("blocker_1", "blocker", "d delta.new sigma"),
    ("beetles_1", "beetles-logit", "alpha beta r.hat D"),
    ("beetles_2", "beetles-probit", "alpha beta r.hat D"),
    ("beetles_3", "beetles-cloglog", "alpha beta r.hat D"),
    ("mice_1", "mice", "veh.control test.sub pos.control r median"),
    ("oxford_1", "oxford", "alpha beta1 beta2 sigma"),
    ("birats_1", "birats1", "mu.beta sigma.beta alpha0"),
    ("birats_2", "birats2", "mu.beta sigma.beta r alpha0"),
    ("eyes_1", "eyes2", "P lambda sigma"),
    ("leuk_1", "leuk", "beta"),
    ("dugongs_1", "dugongs", "U3 alpha beta gamma sigma"),
    ("alli_1", "alli", "b"),
    ("asia_1", "asia", "smoking tuberculosis lung.cancer bronchitis either xray"),
    ("asia_2", "asia2", "theta.b smoking"),
    ("jaw_2", "jaw-linear", "beta0.uncentred beta1 Sigma2 mu RSS deviance"),
)
MORE = _cases(
    FOLDER / "more",
    ("stacks", "stacks", "b0 b sigma outlier"),
    ("inhalers", "inhalers", "a beta kappa pi sigma log.sigma"),
    ("biops", "biops", "error p"),
    ("ice", "ice", "logRR sigma"),
    ("stagnant", "stagnant", "alpha beta x.change sigma"),
    ("hearts", "hearts", "alpha beta delta theta state"),
    ("surgical_1", "surgical1", "p"),
    ("surgical_2", "surgical2", "p mu pop.mean sigma"),
    ("dogs", "dogs", "alpha beta A B"),
    ("camel", "camel", "sigma rho"),
    ("pines", "pines", "pM2 alpha beta gamma delta tau"),
    ("endo_1", "endo1", "beta"),
    ("endo_2", "endo2", "beta"),
    ("magnesium", "magnesium", "mu tau"),
    ("leukfr", "leukfr", "beta sigma"),
    ("epil", "epil", "alpha0 alpha.Base alpha.Trt alpha.BT alpha.Age alpha.V4 sigma.b1 sigma.b"),
    ("bones", "bones", "theta"),
    ("lsat", "lsat", "alpha beta"),
    ("kidney", "kidney", "alpha beta.age beta.sex beta.disease r sigma"),
    ("otrees", "otrees", "mu sigma sigmaC"),
    ("otreesmvn", "otreesmvn", "mu sigma sigmaC"),
    ("air", "air", "X p"),
    ("cervix", "cervix", "beta0C beta q phi gamma1 gamma2"),
    ("jaw_1", "jaw1", "beta0 Sigma2 RSS"),
    ("jaw_3", "jaw3", "beta0.uncentred beta1.uncentred beta2 Sigma2 mu RSS"),
    ("schools", "schools", "beta gamma phi theta Sigma"),
    ("endo_3", "endo3", "beta"),
    ("pigs", "pigs", "q a b c d e f i"),
    ("lips", "lips", "alpha0 alpha1 sigma RR"),
    ("fire", "fire", "alpha sigma theta"),
    ("circle", "circle", "x y"),
    ("ring", "ring", "x y r2"),
    ("hepatitis_1", "hepatitis1", "alpha0 beta0 gamma sigma"),
    ("hepatitis_2", "hepatitis2", "alpha0 beta0 gamma sigma"),
    ("eyetracking", "eyetracking", "A B K"),
    ("litters", "litters", "mu theta"),
    ("hips_4", "hips4", "HR sigmah C.incr BQ.incr mean.C.incr mean.BQ.incr"),
    ("jama", "jama", "alpha beta"),
)
