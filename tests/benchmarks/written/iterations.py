"""Clocks of programs that iterate: CPU seconds of a number of iterations."""

from time import process_time


def going_on(iterate):
    """A turn from where the last one has ended."""

    def turn(seed, size):
        began = process_time()
        iterate(size)
        return {"sampling": process_time() - began}

    return turn


def from_the_start(fit):
    """A turn of a program that only runs from its start: so many more iterations than a few."""

    def turn(seed, size):
        few = max(1, size // 4)
        clock = [process_time()]
        for iterations in (few, few + size):
            fit(iterations)
            clock.append(process_time())
        return {"sampling": (clock[2] - clock[1]) - (clock[1] - clock[0])}

    return turn
