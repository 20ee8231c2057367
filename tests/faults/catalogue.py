"""All faults that are tried, and how often of two hundred rounds each is."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults import clocks, damages, disks, kills, servers
from tests.faults.bench import Bench, bench

Play = Callable[[Path, int, random.Random], None]
ROUNDS = 200


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault: `share` of the rounds asked for, `least` at least; `play` raises what is wrong."""

    name: str
    play: Play
    share: float
    least: int = 1

    @property
    def text(self) -> str:
        """What is tried, in words."""
        return (self.play.__doc__ or "").strip()

    def rounds(self, asked: int) -> int:
        """How many rounds it gets of those asked for."""
        return max(self.least, round(self.share * asked))


def _kill(play: Callable[[Bench, random.Random], None]) -> Play:
    def on_a_bench(folder: Path, _number: int, chance: random.Random) -> None:
        with bench(folder) as made:
            play(made, chance)

    on_a_bench.__doc__ = play.__doc__
    return on_a_bench


@contextlib.contextmanager
def faults(soak_s: float, tell: Callable[[str], None]) -> Iterator[list[Fault]]:
    """All faults; what their rounds share is removed at the end."""
    with damages.damages() as damaged:
        yield [
            Fault("kill-program", _kill(kills.program), 0.25),
            Fault("kill-supervisor", _kill(kills.supervisor), 0.25),
            Fault("kill-companion", _kill(kills.companion), 0.1),
            Fault("kill-sampler", _kill(kills.sampler), 0.1),
            Fault("kill-watchers", _kill(kills.watchers), 0.05),
            Fault("kill-member", _kill(kills.member), 0.15),
            Fault("kill-cluster-supervisor", _kill(kills.cluster_supervisor), 0.05),
            Fault("kill-server", servers.killed, 0.05),
            Fault("disk-recording", disks.recording, 0.05, len(disks.LEVELS)),
            Fault("disk-sealing", disks.sealing, 0.05, len(disks.LEVELS)),
            Fault("read-only-home", disks.read_only, 0.01),
            Fault("damaged-files", damaged.play, 1.0, 20),
            Fault("two-servers", servers.two, 0.01),
            Fault("clock", clocks.play, 0.03),
            Fault("soak", servers.Soak(soak_s, tell).play, 0.0),
        ]
