"""The home's other files and what is taken in: recordings, uploads, own scripts, tokens, costs, batches."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import io
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from app.access import AccessCheck, Policy, cookie_values
from app.components.stream.connection import wish_in
from app.components.stream.past import past_text
from app.components.stream.replay import recording_of, told_of
from app.lessons import batch, verdict_cache
from app.tokens import kept_tokens, known_tokens
from app.views.metrics import metrics_text
from app.views.smi_text import machine_text
from app.web.machine.machine_recordings import recording_row
from app.web.shared.address import RunAddress
from runners.environments.environments import environments
from runners.errors import HopscopeError
from runners.machine import copy_costs, monitor
from runners.machine.sample_history import History
from runners.plan import own_script, script_folders
from runners.recordings import recordings
from tests.hostile import ground as checks
from tests.hostile import material
from tests.hostile.folders import put_odd, wiped
from tests.hostile.ground import Ground, watch

SHARE = 260
CHECKED = "one line of error at most; what is replayed, shown, measured and let in; nothing outside is read"

_ODD = ("folder", "loop", "unreadable")
"""Links and FIFOs only the owner can put there, unlike into a run's folder."""


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What tries one input."""
    script_folders.allow([ground.home])
    machine = monitor.read_once()  # the sampler is a process of the product's own
    monitor.read_once = lambda *_arguments, **_options: machine
    watch(ground)
    parts = (_recording, _recording, _recording, _own_scripts, _tokens, _costs, _lessons, _words, _snapshot)

    def attempt(rng: random.Random) -> None:
        part = rng.choice(parts)
        ground.note("part", part.__name__)
        wiped(ground.home)
        ground.home.mkdir()
        part(rng, ground)

    yield attempt


def _keep(rng: random.Random, ground: Ground, name: str, data: bytes) -> None:
    """Put a file into the home; now and then what is no file."""
    path = ground.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    ground.note(name, data[: 1 << 20])
    path.write_bytes(data)
    path.chmod(0o600)
    if rng.random() < 0.1:
        put_odd(path, rng.choice(_ODD), rng.choice((ground.outside / "secret.txt", ground.outside)))


def recorded(rng: random.Random) -> bytes:
    """A recording of a machine, damaged."""
    header: Any = {"format": "hopscope-recording", "version": 1, "made": "2026-11-22T19:00:00+00:00"}
    header |= {"hostname": "workstation", "hopscope": "1.0", "hz": 1.0, "gpus": ["NVIDIA A100"]}
    lines = [header if rng.random() < 0.8 else material.damaged_value(rng, header)]
    for number in range(rng.choice((0, 1, 3, 20))):
        sample = snapshot(number)
        for _ in range(rng.choice((0, 1, 1, 5))):
            sample = material.damaged_value(rng, sample)
        lines.append(sample)
    data = b"\n".join(material.as_json(rng, line).replace(b"\n", b" ") for line in lines) + rng.choice(
        (b"\n", b"")
    )
    if rng.random() < 0.2:
        data = material.damaged_bytes(rng, data)
    kind = rng.random()
    if kind < 0.4:
        data = gzip.compress(data, 1)
        return material.damaged_bytes(rng, data) if rng.random() < 0.3 else data
    if kind < 0.41:
        return gzip.compress(b"[" * (100 << 20), 1)
    return data


def snapshot(number: int) -> dict[str, Any]:
    """A machine as its sampler tells of it."""
    gpu = {
        "index": 0,
        "uuid": "GPU-1",
        "pci_bus_id": "00000000:01:00.0",
        "name": "NVIDIA A100",
        "utilization_percent": 50,
        "memory_used_bytes": 1 << 30,
        "memory_total_bytes": 1 << 34,
        "power_watts": 100.5,
        "power_limit_watts": 300,
        "temperature_celsius": 60,
        "throttle_reasons": ["idle"],
        "processes": [
            {"pid": 1, "type": "C", "user": "root", "command": "python train.py", "memory_bytes": 1}
        ],
    }
    return {
        "seq": number + 1,
        "t": 1795375177.0 + number,
        "full": True,
        "hz": 1.0,
        "nvml": "ok",
        "driver": "550.1",
        "cuda_driver": "12.4",
        "gpus": [gpu],
        "topology": [["X"]],
        "p2p": [["X"]],
        "host": {
            "hostname": "workstation",
            "cpu_percent": 5.0,
            "memory_used_bytes": 1,
            "memory_total_bytes": 2,
        },
    }


def _recording(rng: random.Random, ground: Ground) -> None:
    data = recorded(rng)
    name = rng.choice(("machine.jsonl", "machine.jsonl.gz", material.text(rng)))
    ground.note("name", name)
    if rng.random() < 0.5:
        _keep(rng, ground, f"recordings/machine.jsonl{rng.choice(('', '.gz'))}", data)
    else:
        ground.note("upload", data[: 1 << 20])
        with contextlib.suppress(HopscopeError):
            recordings.add(name, io.BytesIO(data))
    for entry in recordings.listed():
        _send(recording_row(entry, True))
        with contextlib.suppress(HopscopeError):
            facts = entry.path.stat()
            told_of(entry.path, facts.st_mtime_ns, facts.st_size)
            playback = recordings.Playback(recording_of(entry.id))
            history = History()
            for number in range(3):
                made = playback.snapshot(number)
                history.add(made)
                _shown(made)
            _send(
                json.loads(
                    past_text(history.since, {"span": 60, "fields": ["power_watts"]}, 1795375180.0, 1.0)
                )
            )
    for one in (name, material.text(rng)):
        with contextlib.suppress(HopscopeError):
            recordings.remove(one)


def _shown(made: Any) -> None:
    _send(made)
    checks.check_terminal(machine_text(made, {}))
    metrics_text(made, "live", 1795375180.0)


def _snapshot(rng: random.Random, ground: Ground) -> None:
    """What a recording that was let in shows: alerts, text and metrics of it."""
    data = recorded(rng)
    path = ground.home / "one.jsonl"
    path.write_bytes(data)
    ground.note("recording", data[: 1 << 20])
    from app.web.machine.alerts import Watcher

    with contextlib.suppress(HopscopeError):
        recording = recordings.read_recording(path)
        playback, watcher = recordings.Playback(recording), Watcher()
        for number in range(min(len(recording.lines), 5)):
            made = playback.snapshot(number)
            _shown(made)
            _send(watcher.look(made))


def _own_scripts(rng: random.Random, ground: Ground) -> None:
    fields: Any = {
        "folder": str(ground.home),
        "script": "x.py",
        "module": False,
        "arguments": "--x",
        "devices": ["gpu:0"],
    }
    held = {"launched": [material.damaged_value(rng, fields) for _ in range(rng.choice((0, 1, 3)))]}
    made = held if rng.random() < 0.6 else material.damaged_value(rng, held)
    _keep(rng, ground, own_script.REMEMBERED, material.as_json(rng, made))
    own_script.remembered()
    typed = {
        name: material.text(rng)
        for name in ("script", "arguments", "cwd", "variables", "python", "framework")
    }
    own = own_script.OwnScript.read(
        {**fields, **{name: typed[name] for name in rng.sample(list(typed), 2)}, "module": rng.random() < 0.5}
    )
    with contextlib.suppress(HopscopeError):
        own_script.split_arguments(own.arguments)
        own_script.read_variables(own.variables)
    with contextlib.suppress(HopscopeError):
        script_folders.inside(material.text(rng))
    with contextlib.suppress(HopscopeError):
        # To look at an interpreter it is started, which is the operator's to ask for.
        own_script.plan_own(dataclasses.replace(own, python=""))
    own_script.remember(own)


def _tokens(rng: random.Random, ground: Ground) -> None:
    sound: Any = {"operator": "o" * 40, "viewer": "v" * 40}
    _keep(rng, ground, "tokens.json", material.as_json(rng, material.damaged_value(rng, sound)))
    known_tokens()
    tokens, _ = kept_tokens()
    policy = Policy(tokens)
    headers = [material.text(rng) for _ in range(rng.choice((1, 3)))]
    cookie_values(headers, policy.cookie)
    if policy.role_by_cookie(headers) or policy.role_of([material.text(rng)]):
        raise checks.Harm("a token that was never given out is taken")
    policy.knows_host(material.text(rng), rng.choice(("127.0.0.1", "::1", None, material.text(rng))))
    AccessCheck(None)  # type: ignore[arg-type]  # it is not called


def _costs(rng: random.Random, ground: Ground) -> None:
    pair = {
        "src": "GPU-1",
        "dst": "host",
        "bytes_per_second": 1e9,
        "latency_seconds": 1e-6,
        "memory": "pinned",
    }
    sound: Any = {"made": 1.0, "driver": "550", "uuids": ["GPU-1"], "pairs": [pair], "skipped": []}
    held = {"version": 1, "machines": [material.damaged_value(rng, sound)]}
    _keep(
        rng,
        ground,
        str(copy_costs.costs_file().relative_to(ground.home)),
        material.as_json(rng, material.damaged_value(rng, held)),
    )
    copy_costs.load()
    copy_costs.costs_of_run(ground.home, ["GPU-1"])


def _lessons(rng: random.Random, ground: Ground) -> None:
    item = {"program": "tf-mirrored", "variant": "x", "state": "waiting", "run": None}
    state: Any = {
        "state": "running",
        "items": [item],
        "started": 1.0,
        "ended": None,
        "reason": None,
        "driver": {"pid": 1, "start": 1},
    }
    folder = batch.folder().relative_to(ground.home)
    _keep(
        rng, ground, f"{folder}/{batch.STATE_NAME}", material.as_json(rng, material.damaged_value(rng, state))
    )
    kept: Any = {"key": "x", "verdicts": [{"verdict": "holds", "text": "x"}]}
    _keep(
        rng,
        ground,
        f"{folder}/{verdict_cache.FOLDER_NAME}/tf-mirrored.json",
        material.as_json(rng, material.damaged_value(rng, kept)),
    )
    found = batch.state()
    if found is not None:
        _send([found.state, found.reason])
    verdict_cache.kept_verdicts(batch.folder() / verdict_cache.FOLDER_NAME / "tf-mirrored.json", "x")
    environments()


def _words(rng: random.Random, ground: Ground) -> None:
    """Addresses and wishes, as their readers take them."""
    query = {name: [material.text(rng) for _ in range(rng.choice((1, 2)))] for name in RunAddress.names()}
    ground.note("query", query)
    found = RunAddress.read(query)
    again = RunAddress.read(found.query())
    if again.query() != found.query():
        raise checks.Harm(f"an address says something else the second time: {found} {again}")
    wish = material.as_json(rng, material.value(rng)).decode("utf-8", "replace")
    ground.note("wish", wish[:10_000])
    wish_in(wish)
    asked = wish_in(wish) | {"span": material.value(rng), "fields": material.value(rng)}
    past_text(History().since, asked, 1795375180.0, 1.0)


def _send(data: Any) -> None:
    text = json.dumps(data)
    checks.check_secret(text)
