"""Two pre-flights side by side, in words: what a change did to what is foreseen. There are no times."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from app.facts.devices import is_gpu
from app.preflight.comparison import HOST_MEMORY, Compared, Flown
from app.views import units
from app.web.run.verify_words import amount_row, count_row, dearer, headline, rows, size_told

NO_TIMES = (
    "Bytes as they are foreseen; nothing was measured on a GPU. No times are compared: a pre-flight runs on"
    " the host, where neither steps nor waits take as long as there."
)
_MOST_NAMED = 3
_MOST_WAYS = 4
"""Ways between devices of which each has a row of its own."""


def verdict(compared: Compared) -> str:
    """``no-kernel at train.py:7 is not foreseen any more``, and what it cost elsewhere."""
    return headline(compared.verified, foreseen=True) + elsewhere(compared)


def elsewhere(compared: Compared) -> str:
    """That what is gone crosses still, or that more does; '' where the bytes went too."""
    one = compared.verified
    was, now = one.before.bytes, one.after.bytes
    if one.state == "still there" or not one.before.bytes_of_finding:
        return dearer(one)
    ways = _moving(compared.before)
    if was is None and now is None and any(ways.values()) and ways == _moving(compared.after):
        return ", but of the bytes that are known as many move as before"
    return ", but all in all as many bytes move as before" if was == now is not None else dearer(one)


def _moving(side: Flown) -> dict[tuple[str, str], float | None]:
    return {way: size for way, size in side.ways.items() if size != 0}


def other_machine(compared: Compared) -> str:
    """That the two are of different machines; '' where they are not."""
    was, now = compared.before.gpus, compared.after.gpus
    if was == now:
        return ""
    return (
        f"This one is foreseen for {units.plural(now, 'GPU')}, the one before for {was}: the machine has as"
        " many as the script names."
    )


def less_foreseen(compared: Compared) -> str:
    """What cannot be foreseen of the edited copy alone; '' for nothing."""
    found = compared.unforeseen
    if not found:
        return ""
    more = len(found) - _MOST_NAMED
    listed = "; ".join(found[:_MOST_NAMED]) + (f"; and {more} more, below" if more > 0 else "")
    return f"New among what cannot be foreseen: {listed}"


def not_reached(headers: Iterable[Mapping[str, Any]]) -> str:
    """That the edited copy was not run to its end; '' where it was. `headers` are its processes'."""
    told = [header.get("preflight") for header in headers]
    steps = [one["ended_after"] for one in told if isinstance(one, Mapping) and one.get("ended_after")]
    if not steps:
        return ""
    return (
        f"The copy was ended after {units.plural(max(steps), 'step')}: what it does behind its loop did not"
        " run, so a mistake there would not show."
    )


def libraries_told(compared: Compared) -> list[str]:
    """What libraries would do that deserves a warning, of the edited copy alone."""
    return [f"New, of libraries for GPUs: {what}" for what in compared.libraries]


def flown_rows(compared: Compared, whole: bool = True) -> list[dict[str, Any]]:
    """What is compared, a row each; `whole`: the later one went as far as it was meant to."""
    each = "each step" if compared.verified.by_step else "in all that ran"
    was, now = compared.before, compared.after
    *bytes_rows, warnings = rows(compared.verified, whole, each)
    made = _ways(was, now)
    if was.waits or now.waits:
        what = f"Waits for a {'card' if was.stand_ins | now.stand_ins else 'GPU'}'s value, {each}"
        made.append(amount_row("waits", what, was.waits, now.waits, lambda value: f"{value:.3g}"))
    if was.lacking or now.lacking:
        made.append(count_row("lacking", "Ops without a GPU kernel", was.lacking, now.lacking))
    for one in () if whole else made:
        one["cells"]["change"] = {"text": "", "remark": "not held against"}
    return [*bytes_rows, *made, warnings]


def _ways(was: Flown, now: Flown) -> list[dict[str, Any]]:
    """Which way the bytes go: from device to device where those are few; none where there is but one way."""
    ways = [way for way in dict.fromkeys((*was.ways, *now.ways)) if {_on(was, [way]), _on(now, [way])} != {0}]
    parts = {_way(src, dst): [(src, dst)] for src, dst in sorted(ways)}
    if len(ways) > _MOST_WAYS:
        parts = {}
        for way in ways:
            parts.setdefault(_kind(*way, was.stand_ins | now.stand_ins), []).append(way)
    if len(parts) < 2:
        return []
    return [
        amount_row(name, f"of them {name}", _on(was, part), _on(now, part), size_told)
        for name, part in parts.items()
    ]


def _way(src: str, dst: str) -> str:
    if dst == HOST_MEMORY:
        return f"{src} and {dst}"
    return f"within {src}" if src == dst else f"{src} → {dst}"


def _kind(src: str, dst: str, stand_ins: Collection[str]) -> str:
    """The way told of devices of a kind."""

    def told(end: str) -> str:
        return "GPUs" if is_gpu(end) else "stand-ins" if end in stand_ins else "host"

    source, destination = told(src), told(dst)
    if dst == HOST_MEMORY:
        return f"{source} and their host memory" if is_gpu(src) else f"{source} and {dst}"
    return f"within {source}" if src == dst else f"{source} → {destination}"


def _on(side: Flown, ways: Iterable[tuple[str, str]]) -> float | None:
    """Bytes that go these ways; None where not known."""
    sizes = [side.ways.get(way, 0) for way in ways]
    return None if None in sizes else sum(size or 0 for size in sizes)
