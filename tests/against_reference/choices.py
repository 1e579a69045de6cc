"""Random settings of gp.compile for a model, as source."""

from against_reference.scalars import BINARY, COUNT, LABEL, POSITIVE, REAL, UNIT
from against_reference.vectors import SIMPLEX, SPD, SPHERE, VECTOR

RULES = ("Polya-Gamma", "latent normal between", "latent normal", "share out", "at least one",
         "rejected draws", "power of a sum", "distance", "tables of customers", "fraction",
         "hidden value", "parts", "unseen")


def settings_of(draft, made):
    """Words of gp.compile: none for half of the models."""
    if draft.chance(0.5):
        return {}
    latent = [v for v in made.variables if v.mask is None or not v.mask.all()]
    asked = {}
    ways = (_blocks, _rewrites, _order, _scan, _kernels, _interweave, _collapse)
    for way in draft.some_of(ways, 1 + int(draft.chance(0.3))):
        asked |= way(draft, latent)
    return asked


def _name(draft, latent, kinds=None):
    found = [v.name for v in latent if kinds is None or v.kind in kinds]
    return draft.one_of(found) if found else None


def _blocks(draft, latent):
    name = _name(draft, latent)
    texts = ["False", f'{{"{name}": "elements"}}', f'{{"{name}": "alone"}}']
    if len(latent) > 1:
        two = draft.some_of([v.name for v in latent], 2)
        texts.append(f'{{{tuple(two)!r}: "together"}}')
    return {"blocks": draft.one_of(texts)}


def _rewrites(draft, latent):
    rule = draft.one_of(RULES)
    return {"rewrites": draft.one_of(("False", f'{{"{rule}": True}}', f'{{"{rule}": False}}'),
                                     [2, 2, 1])}


def _order(draft, latent):
    names = draft.some_of([v.name for v in latent], 2)
    return {"order": repr(tuple(names))}


def _scan(draft, latent):
    return {"scan": draft.one_of(('"random"', '"symmetric"',
                                  f'gp.RandomScan({{"{_name(draft, latent)}": 2.0}})'))}


def _kernels(draft, latent):
    name = _name(draft, latent, {REAL, POSITIVE, UNIT, COUNT, VECTOR})
    if name is None:
        return {}
    return {"kernels": f'{{"{name}": ' + draft.one_of((
        "gp.Slice()", "gp.RandomWalk()", "gp.AdaptiveRejection()", "gp.OverRelaxed(-0.6)",
        "gp.RandomWalk(scale=0.5)"), [3, 3, 1, 2, 1]) + "}"}


def _interweave(draft, latent):
    name = _name(draft, latent)
    return {"interweave": draft.one_of(("False", f'("{name}",)'), [2, 1])}


def _collapse(draft, latent):
    if not any(v.kind in (LABEL, BINARY) for v in latent):
        return {}
    name = _name(draft, latent, {REAL, POSITIVE, UNIT, SIMPLEX, VECTOR, SPD, SPHERE})
    return {} if name is None else {"collapse": f'("{name}",)'}

