"""What is shown of a run under way: a bar, with how chains mix, and views of chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from gibbsppl.errors import counted
from gibbsppl.run.callbacks import Callback
from gibbsppl.run.progress import Report
from gibbsppl.run.recording import Array
from gibbsppl.run.segments import Job, Position
from gibbsppl.run.stores import Store

# How chains mix, in words, by their draws so far; and the seconds between two looks at that.
Mixing = Callable[[Mapping[str, Array]], str]
SECONDS_BETWEEN_LOOKS = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What is to be shown of a run: its progress, how chains mix, views of them."""

    progress: bool = True
    callback: Callback | None = None
    mixing: Mixing | None = None

    def paused(self, job: Job) -> Job:
        """A job whose segments end where a callback is called."""
        return job if self.callback is None else replace(job, pause=self.callback.every)


@dataclass(slots=True)
class Showing:
    """A run under way, as it is shown."""

    shown: Shown
    report: Report | None
    mixes: str = ""
    next_look: float = field(default_factory=lambda: perf_counter() + SECONDS_BETWEEN_LOOKS)

    def begin(self, positions: Sequence[Position]) -> None:
        """Begin where the chains of a run are."""
        if self.shown.callback is not None:
            swept = {n: p.chain.sweep - p.before for n, p in enumerate(positions)}
            self.shown.callback.seen.update(swept)

    def see(
        self,
        number: int,
        positions: Sequence[Position],
        chains: tuple[list[int], int],
        store: Store,
    ) -> None:
        """Look at a run, of which a chain has just gone on; ``chains`` have so many draws each."""
        if self.shown.callback is not None:
            drawn = positions[number].drawn
            found = store.kept([number], drawn)[0] if drawn else {}
            own = {n: a[0] for n, a in found.items()}
            self.shown.callback.look(number, positions[number], own)
        if self.report is None:
            return
        began = perf_counter()
        if self.shown.mixing is not None and began > self.next_look:
            self.mixes = self.shown.mixing(store.kept(*chains)[0]) if chains[1] else ""
            ended = perf_counter()
            # (of many draws it takes long, and so it is seldom done)
            self.next_look = ended + max(SECONDS_BETWEEN_LOOKS, 20 * (ended - began))
        many = counted(len(positions), "chain")
        doing = "sampling" if all(p.is_warm for p in positions) else "warm-up"
        done = sum(p.chain.sweep - p.before for p in positions)
        self.report(done, ", ".join(filter(None, [many, doing, self.mixes])))
