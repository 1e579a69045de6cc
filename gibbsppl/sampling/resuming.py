"""Runs in folders: begun there, gone on with, looked at.

Comes in: a run, or the folder of one. Goes out: its draws, which are read from the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from os import PathLike
from typing import TypedDict

from gibbsppl.arguments import COUNT, PATH, POSITIVE, POSITIVE_NUMBER, TRUTH, calls_told
from gibbsppl.checkpoints.arrays import OnDisk
from gibbsppl.checkpoints.folders import (
    Checkpoints,
    Found,
    check_new,
    content_of,
    folder_at,
    new_folder,
    to_go_on,
)
from gibbsppl.errors import RunError
from gibbsppl.output.draws import Draws, draws_in
from gibbsppl.run.beginning import SoFar
from gibbsppl.run.callbacks import View
from gibbsppl.run.pools import Wanted
from gibbsppl.run.ready import RunResult
from gibbsppl.run.sampling import most_draws, warm_of
from gibbsppl.run.segments import monitored_by
from gibbsppl.run.shown import Shown
from gibbsppl.run.stores import InMemory
from gibbsppl.run.workers import Pool
from gibbsppl.sampling.extending import Before, put
from gibbsppl.sampling.runs import Run, shown_of
from gibbsppl.settings import EXECUTOR, FUNCTION

# The seconds between checkpoints, where nobody says.
EVERY = 30.0
# The sweeps of a chain between two calls of a function that sees it, where nobody says.
CALLBACK_EVERY = 100


class How(TypedDict):
    """What is shown of a run; its folder, and the seconds between its checkpoints."""

    shown: Shown
    checkpoint: str | PathLike[str] | None
    every: float | None


def check_folder(
    checkpoint: str | PathLike[str] | None, every: float | None, watched: object
) -> None:
    """Refuse, before a run has begun, what its folder could not take, and what says nothing."""
    if checkpoint is not None:
        check_new(checkpoint)
        content_of(watched)
    elif every is not None:
        raise RunError(
            f"every: found {every:g} seconds between checkpoints, and no folder to write to; name "
            "one in checkpoint=."
        )


def drawn(
    run: Run,
    so_far: SoFar,
    wanted: Wanted | Pool | None,
    *,
    shown: Shown,
    checkpoint: str | PathLike[str] | None,
    every: float | None,
    before: Before | None = None,
) -> Draws:
    """The draws of a new run, in memory, or in a folder; those ``before`` are its first ones."""
    job = run.beginning.job
    size = len(so_far.positions), job.recording.draws
    if checkpoint is None:
        memory = InMemory(size, job.every)
        if job.warming is not None:
            memory.warmup = InMemory((size[0], job.warming.draws), job.every)
        put(before, memory)
        return run.carried_out(so_far, memory, wanted, shown=shown)
    needed = sum(run.beginning.needed.values()) if run.beginning.until is None else None
    with new_folder(checkpoint, run.made.identity, run, needed) as folder:
        store = OnDisk(folder, size, job.every)
        if job.warming is not None:
            store = store.with_warmup(job.warming.draws)
        keeper = Checkpoints(folder, store, EVERY if every is None else every)
        try:
            put(before, store)
            keeper.keep(so_far)
            return run.carried_out(so_far, store, wanted, shown=shown, keeper=keeper)
        finally:
            store.close()



@calls_told(
    RunError, path=PATH, every=POSITIVE_NUMBER, cores=COUNT.or_none(), executor=EXECUTOR.or_none(),
    callback=FUNCTION.or_none(), callback_every=POSITIVE, progress=TRUTH,
)  # fmt: skip
def resume(
    path: str | PathLike[str],
    *,
    every: float = EVERY,
    cores: int | None = None,
    executor: Executor | None = None,
    callback: Callable[[View], object] | None = None,
    callback_every: int = CALLBACK_EVERY,
    progress: bool = True,
) -> Draws:
    """The draws of a run in a folder, which goes on from its last checkpoint.

    The folder is one that ``sample(checkpoint=...)`` has made; the run may have been stopped,
    killed, or have ended with its machine. Its draws are those that it would have made if it had
    not been stopped. All that it needs is in the folder. ``cores``, ``executor``, ``callback``
    and ``progress`` are as in `sample`, and may be others than before. A folder whose files are not
    as they were written, a run that was made by other versions, and one that another process is at,
    are refused, and left as they are.

    >>> import tempfile
    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     mu = gp.Normal("mu", 0, sigma=1)
    ...     y = gp.Normal("y", mu, sigma=1, observed=1.5)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     draws = gp.compile(model).sample(200, seed=1, checkpoint=f"{place}/run")
    ...     again = gp.resume(f"{place}/run")
    ...     print((again["mu"] == draws["mu"]).all())
    True
    """
    with to_go_on(path) as found:
        run: Run = found.run()
        so_far = found.so_far().at(run.beginning.job)
        store = found.store(to_write=True)
        keeper = Checkpoints(found.folder, store, every)
        try:
            wanted = Wanted(cores, executor)
            shown = shown_of(progress, callback, callback_every)
            return run.carried_out(so_far, store, wanted, shown=shown, keeper=keeper)
        finally:
            store.close()


@calls_told(RunError, path=PATH)
def load_draws(path: str | PathLike[str]) -> Draws:
    """The draws in a netCDF file written by ``Draws.save``, or in the folder of a run.

    A folder is one that ``sample(checkpoint=...)`` has made; of a run that has not ended, the draws
    are those at its last checkpoint. They are read from the disk where they are looked at. A folder
    is unpickled: read those of people whose programs you would run. A file is not.
    """
    place = folder_at(path)
    if not place.exists():
        raise RunError(f"{place}: found no file or folder, expected draws that were saved.")
    return _draws_so_far(Found.at(place)) if place.is_dir() else draws_in(path)


def _draws_so_far(found: Found) -> Draws:
    """The draws of a run, whether it has ended or not."""
    run: Run = found.run(("gibbsppl", "python"))  # (others draw, and do not read)
    so_far = found.so_far()
    job = run.beginning.job
    chains, draws = most_draws([p.drawn for p in so_far.positions])
    if not draws:
        raise RunError(
            f"{found.folder}: the run has no draws yet; look again after a while, or go on with "
            f"gibbsppl.resume({str(found.folder)!r})."
        )
    store = found.store(to_write=False)
    try:
        values, rates = store.kept(chains, draws)
        warm = warm_of(job, store, chains)
    finally:
        store.close()
    wanted = job.recording.draws
    told = f"so far, the first {draws} of {wanted} draws of each chain"
    positions = tuple(so_far.positions[n].at_its_chain(job) for n in chains)
    own = job.warmup, job.thin, so_far.seconds
    interrupted = None if so_far.is_over else so_far.interrupted or told
    result = RunResult(values, positions, *own, interrupted, rates)
    monitored = monitored_by([so_far.positions[n] for n in chains])
    whole = replace(result, left_out=run.beginning.left_out, until=so_far.until, every=job.every)
    return run.as_draws(replace(whole, monitored=monitored, warm=warm))
