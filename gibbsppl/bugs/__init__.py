"""The BUGS language: model texts, data and initial values as JAGS and OpenBUGS have them."""
