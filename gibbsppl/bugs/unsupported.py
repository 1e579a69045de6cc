"""Distributions and functions that gibbsppl has no meaning for: why, and what to write instead.

The error messages of programs that use them come from here.
"""

from __future__ import annotations

from gibbsppl.bugs.rows import Unsupported

LIKELIHOOD = (
    "if its values are observed write their log density as ll[i] and zero[i] ~ dloglik(ll[i]), "
    "with zero[i] <- 0 in a data block"
)


def _without(names: str, reason: str, instead: str = LIKELIHOOD) -> tuple[Unsupported, ...]:
    return tuple(Unsupported((n,), f"not supported: {reason}", instead) for n in names.split())


UNSUPPORTED_DISTRIBUTIONS: tuple[Unsupported, ...] = (
    *_without(
        "dgeom",
        "it is not clear from where it counts",
        "write dgeom0(p) for the number of failures before the first success (0, 1, ...), or "
        "dgeom1(p) for the number of trials (1, 2, ...)",
    ),
    *_without(
        "sum dsum",
        "none of the summands is an array without observed values that one line gives, without "
        "bounds, in loops like those of the sum, all of which is observed",
        "give the last summand a line of its own, in loops like those of the sum (b[i] beside "
        "y[i]), or give the sum its own distribution (that of independent dnorm, dpois or dbin "
        "variables has the same name)",
    ),
    *_without(
        "dsample",
        "draws without replacement have no density in closed form",
        "of one draw write dmulti(p, 1)",
    ),
    *_without(
        "dpick",
        "it chooses between two values",
        "write z ~ dbern(p) and x <- ifelse(z, a, b)",
    ),
    *_without(
        "drw1 rand.walk stoch.trend",
        "random walks have no vector form",
        "write a loop: x[t] ~ dnorm(x[t - 1], tau)",
    ),
    *_without(
        "dmstate",
        "transition probabilities of processes in continuous time need a matrix exponential",
        "where all gaps of time are equal write dcat(P[x[t - 1], ])",
    ),
    *_without("dgev dgpar", "its support depends on its shape, which may have either sign"),
    *_without(
        "dlog.weib",
        "it has no family",
        "write its negative: z ~ dgumbel(-mu, 1 / sigma) and x <- -z",
    ),
    *_without(
        "dweib3",
        "a shifted distribution has no family",
        "write z ~ dweib(v, lambda) and x <- z + shift, or if it is observed subtract the shift "
        "in a data block",
    ),
    *_without(
        "dtriang dtrap dzipf dbs dburrX dexp.power dexp.weib dext.exp dext.weib dflex.weib "
        "dgen.exp dgp.weib dlin.fr dlogistic.exp dweib.modified dexp.ext",
        "it has no family",
    ),
    *_without("dstable", "its density has no closed form", "write dt(mu, tau, k) for heavy tails"),
    *_without("dpolygene founder mendelian recessive", "pedigrees have no family", "write dcat(p)"),
    *_without(
        "dcat2",
        "it is a spelling of dcat for other parameters",
        "write dcat(p)",
    ),
    *_without(
        "dpois.conv dpois.conv2 dSystem dlike.emp dprior.emp re.normal re.normal.cons flex.wish "
        "dexp.dep dweib_dexp",
        "it has no family",
        "write the model out in the distributions that it is made of",
    ),
    *_without(
        "car.l1",
        "the normaliser of a field of absolute differences is not known",
        "write car.normal(adj, weights, num, tau)",
    ),
    *_without(
        "mv.car",
        "fields of vectors are not supported",
        "write one car.normal(adj, weights, num, tau) for each component",
    ),
    *_without(
        "spatial.exp spatial.disc spatial.matern GPexp",
        "covariances that are functions of distances are not built in",
        "write their matrix in a data block, or with <-, and dmnorm.vcov(mu, Sigma)",
    ),
    *_without(
        "spatial.pred spatial.unipred line.pred line.unipred",
        "predictions at other places are not built in",
        "write these places into the field, with missing values",
    ),
)

_CRITICISM = "it draws replicates of data"
_REPLICATE = "write y.rep[i] with the distribution of y[i], and compare it with y[i] by step()"

UNSUPPORTED_FUNCTIONS: tuple[Unsupported, ...] = (
    *_without(
        "cut",
        "what is cut off has no joint distribution to draw from",
        "draw the first model by itself, and give its draws to the second as data",
    ),
    *_without(
        "integral solution",
        "it is defined by another function",
        "write the integral, or the root, in closed form",
    ),
    *_without(
        "ode ode.solution ode.block D",
        "differential equations are not solved",
        "write the solution in closed form",
    ),
    *_without("eigen.vals", "eigenvalues are not computed", "compute them as data"),
    *_without("matrix.pow", "powers of matrices are not built in", "write m %*% m"),
    *_without(
        "replicate.post replicate.prior replicate.postM post.p.value prior.p.value p.valueM",
        _CRITICISM,
        _REPLICATE,
    ),
    *_without(
        "co.selection co.selection.model co.selection.pred linear.spline.d quadratic.spline.d "
        "cubic.spline.d general.spline.d linear.spline.c quadratic.spline.c cubic.spline.c "
        "general.spline.c spline.pred",
        "models whose number of parameters varies are not supported",
        "write a large number of parameters, each with an indicator: beta[k] * z[k], z[k] ~ "
        "dbern(p)",
    ),
    *_without("piecewise iter.map kepler weight", "it is not built in", "write it out"),
    *_without(
        "max.bound min.bound",
        "it is not built in",
        "write max(x[1:n]) or min(x[1:n])",
    ),
    *_without("floor", "BUGS has another name for it", "write trunc(x) for positive x"),
    *_without("ceiling", "BUGS has another name for it", "write trunc(x) + 1"),
    *_without("lgamma gammaln", "BUGS has another name for it", "write loggam(x)"),
    *_without("lfactorial", "BUGS has another name for it", "write logfact(x)"),
    *_without("gamma", "BUGS has another name for it", "write exp(loggam(x))"),
    *_without("factorial", "BUGS has another name for it", "write exp(logfact(x))"),
    *_without("log1p", "BUGS has another name for it", "write log(1 + x)"),
    *_without("expm1", "BUGS has another name for it", "write exp(x) - 1"),
    *_without("log10 log2", "BUGS has another name for it", "write log(x) / log(10)"),
    *_without("expit plogit invlogit inv.logit", "BUGS has another name for it", "write ilogit(x)"),
    *_without("invcloglog", "BUGS has another name for it", "write icloglog(x)"),
    *_without("Phi", "BUGS has another name for it", "write phi(x)"),
    *_without("var", "BUGS has another name for it", "write pow(sd(x[1:n]), 2)"),
    *_without("seq", "BUGS has ranges", "write 1:n"),
    *_without("crossprod", "BUGS has another name for it", "write inprod(x[], y[]) or t(x) %*% y"),
    *_without("solve", "BUGS has another name for it", "write inverse(m) %*% x"),
    *_without("matrix array", "BUGS fills matrices by their elements", "write x[i, j] <- ..."),
    *_without("cor cov", "it is not built in", "write it with mean() and inprod()"),
    *_without("median quantile", "it is not built in", "write ranked(x[1:n], k) of data"),
    *_without(
        "lag diff cumsum cumprod",
        "it is not built in",
        "write a loop that reads x[t - 1]",
    ),
)
