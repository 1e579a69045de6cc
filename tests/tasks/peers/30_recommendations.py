import pymc as pm

# task
unseen = [j for j in range(15) if j not in set(film[user == 4])]
with model:
    new = {"user_of": [4] * len(unseen), "film_of": unseen}
    pm.set_data(new, coords={"rating": range(len(unseen))})
    seen = pm.sample_posterior_predictive(idata, random_seed=1, progressbar=False)
predicted = seen.posterior_predictive["y"]
mean, sd = predicted.mean(("chain", "draw")).values, predicted.std(("chain", "draw")).values
top = [(films[unseen[k]], mean[k], sd[k]) for k in np.argsort(-mean)[:3]]
# done
