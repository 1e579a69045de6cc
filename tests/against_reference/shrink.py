"""The smallest model that still shows a finding, by taking parts away one after the other."""

from dataclasses import replace

from against_reference.models import Function, Known, Part, Term, Variable
from against_reference.trees import Call, Expr, Named, Number, Read


def smaller(model):
    """Models with one thing less."""
    if model.settings:
        yield replace(model, settings={})
        for name in model.settings:
            rest = {k: v for k, v in model.settings.items() if k != name}
            yield replace(model, settings=rest)
    for n in reversed(range(len(model.items))):
        rest = (*model.items[:n], *model.items[n + 1 :])
        if model.items[n].name not in read_names(rest):
            yield replace(model, items=rest)
    for n, item in enumerate(model.items):
        for other in smaller_items(item):
            yield replace(model, items=(*model.items[:n], other, *model.items[n + 1 :]))


def read_names(items):
    """The names of all that is read."""
    return {e.name for i in items for top in exprs_of(i) for e in top.walk()
            if isinstance(e, Read | Named)}


def exprs_of(item):
    match item:
        case Variable():
            inside = [e for p in item.parts for e in p.exprs]
            return [*inside, *item.censoring.values()]
        case Term() | Function():
            return [item.body]
        case _:
            return []


def smaller_items(item):
    match item:
        case Variable():
            if item.mask is not None and not item.censoring:
                yield replace(item, mask=None)
                if not item.mask.all():
                    yield replace(item, mask=item.mask | True)
            if item.censoring:
                yield replace(item, censoring={})
            for n, part in enumerate(item.parts):
                for other in smaller_parts(part):
                    yield replace(item, parts=(*item.parts[:n], other, *item.parts[n + 1 :]))
        case Term():
            for body in smaller_exprs(item.body):
                yield replace(item, body=body)
        case Known():
            return


def smaller_parts(part: Part):
    if part.lower is not None:
        yield replace(part, lower=None)
    if part.upper is not None:
        yield replace(part, upper=None)
    for name, expr in part.written.items():
        for other in smaller_exprs(expr):
            yield replace(part, written={**part.written, name: other})


def smaller_exprs(expr: Expr):
    """Expressions with one thing less in them."""
    if not isinstance(expr, Number):
        for number in (1.0, 0.5, 2.0):
            yield Number(number)
    yield from expr.parts
    if isinstance(expr, Call):
        for n, arg in enumerate(expr.args):
            for other in smaller_exprs(arg):
                yield Call(expr.function, (*expr.args[:n], other, *expr.args[n + 1 :]))
    elif expr.parts and hasattr(expr, "body"):
        for body in smaller_exprs(expr.body):
            yield replace(expr, body=body)


def shrunk(model, shows, tries=400):
    """The smallest model found for which ``shows`` is true."""
    while tries > 0:
        for other in smaller(model):
            tries -= 1
            if tries < 0:
                return model
            if shows(other):
                model = other
                break
        else:
            return model
    return model
