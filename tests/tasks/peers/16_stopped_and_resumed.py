# task
# (a run of PyMC that was stopped cannot go on)
# done
