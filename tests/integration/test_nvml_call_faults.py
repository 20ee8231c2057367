"""What the sampler says when a call fails or hangs: from the start, while it runs, and healed.

A figure that cannot be had says why; none is invented, and no other figure goes with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from probes.nvml.fields import STATIC, names
from runners.machine.monitor import Monitor, read_once
from tests.integration.sampling import (
    DENIED,
    UNKNOWN,
    UNSUPPORTED,
    Sampler,
    Snapshot,
    differing,
    gone,
    once,
    others,
    steady,
    steady_beside_it,
)
from tests.integration.waiting import until
from tests.nvml import NvmlDouble
from tests.nvml.groups import PROCESS_LISTS

MEMORY = {"memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes"}


@pytest.fixture
def double(nvml_makeable: None, tmp_path: Path) -> Iterator[NvmlDouble]:
    """Four GPUs, in pairs; the third is to fail."""
    with NvmlDouble(tmp_path, 4) as double:
        yield double


# A figure


def test_memory_unsupported(double: NvmlDouble) -> None:
    """As where a GPU shares the host's memory: unsupported, and not the host's figures."""
    sound = once(double)["gpus"][2]
    double.set(2, "memory_used", None)
    assert differing(once(double)["gpus"][2], sound) == dict.fromkeys(MEMORY, UNSUPPORTED)
    double.set(2, "memory_used", 12 * 2**30)
    with Sampler(double) as sampler:
        sampler.until(steady)
        double.set(2, "memory_used", None)
        snapshot = sampler.until(lambda now: gone(now["gpus"][2]["memory_used_bytes"]))
        assert differing(snapshot["gpus"][2], sound) == dict.fromkeys(MEMORY, UNSUPPORTED)
        double.set(2, "memory_used", 12 * 2**30)
        sampler.until(lambda now: now["gpus"][2] == sound)


@pytest.mark.parametrize(
    ("code", "why"),
    [(3, UNSUPPORTED), (4, DENIED), (999, UNKNOWN), (27, "error NOT_READY"), (77, "error 77")],
)
def test_one_figure(double: NvmlDouble, code: int, why: str) -> None:
    """Each of the states, for one figure of one card; it arrives and heals while the sampler runs."""
    with Sampler(double) as sampler:
        before = sampler.until(steady)
        double.fail("nvmlDeviceGetPowerUsage", code, gpu=2)
        failed = sampler.until(lambda now: gone(now["gpus"][2]["power_watts"]))
        assert differing(failed["gpus"][2], before["gpus"][2]) == {"power_watts": why}
        assert others(failed) == others(before)
        double.heal("nvmlDeviceGetPowerUsage", gpu=2)
        sampler.until(lambda now: now["gpus"] == before["gpus"])


def test_every_call_failing_alone(double: NvmlDouble) -> None:
    """Whichever call fails for a card from the start, its figures say so and all others are as they were."""
    double.add_process(2, 4_000_000, sm=30)
    sound = once(double)
    silent = []
    for call in _calls_of_gpus(double):
        double.fail(call, 999, gpu=2)
        failed = once(double)
        double.heal(call, gpu=2)
        changed = differing(failed["gpus"][2], sound["gpus"][2])
        if call == "nvmlDeviceGetNvLinkState":
            assert changed == {"nvlink": UNKNOWN, "nvlinks": UNKNOWN}
            continue
        inner = {"processes", "nvlink"} & changed.keys()
        assert {why for name, why in changed.items() if name not in inner} <= {UNKNOWN}, call
        assert others(failed) == others(sound), call
        if not changed and failed["topology"] == sound["topology"] and failed["p2p"] == sound["p2p"]:
            silent.append(call)
    # What has another way to the same figure, and lists that many cards lack.
    assert set(silent) == {
        "nvmlDeviceGetCount_v2",
        "nvmlDeviceGetGraphicsRunningProcesses_v3",
        "nvmlDeviceGetMPSComputeRunningProcesses_v3",
        "nvmlDeviceGetNvLinkRemoteDeviceType",
    }


def test_every_call_failing_at_once(double: NvmlDouble) -> None:
    """All figures of a card fail while it runs, the seldom ones too, and none keeps its value; all heal."""
    double.add_process(2, 4_000_000, sm=30)
    asked_once = {*names(STATIC), "index", "unreadable", "xid"}
    with Sampler(double) as sampler:
        before = sampler.until(steady)
        calls = _calls_of_gpus(double)
        for call in calls:
            double.fail(call, 4, gpu=2)
        failed = sampler.until(
            lambda now: all(gone(value) for name, value in now["gpus"][2].items() if name not in asked_once)
        )
        assert {gone(value) for name, value in failed["gpus"][2].items() if name not in asked_once} == {
            DENIED
        }
        assert others(failed) == others(before)
        for call in calls:
            double.heal(call, gpu=2)
        sampler.until(lambda now: now["gpus"] == before["gpus"])


def test_every_call_failing_from_the_start(double: NvmlDouble) -> None:
    """What is asked for once is asked for again where it failed."""
    sound = once(double)
    calls = _calls_of_gpus(double)
    for call in calls:
        double.fail(call, 27, gpu=2)
    with Sampler(double) as sampler:
        failed = sampler.until(steady_beside_it)
        assert set(differing(failed["gpus"][2], sound["gpus"][2])) == sound["gpus"][2].keys() - {
            "index",
            "unreadable",
            "xid",
        }
        for call in calls:
            double.heal(call, gpu=2)
        sampler.until(lambda now: now["gpus"] == sound["gpus"])


def _calls_of_gpus(double: NvmlDouble) -> list[str]:
    """What the sampler asks of a card, once it has its handle."""
    calls = [name for name in double.all_calls() if name.startswith("nvmlDevice") and "Handle" not in name]
    assert len(calls) > 30
    return [name for name in calls if name != "nvmlDeviceRegisterEvents"]


# Processes


def test_process_list_denied(double: NvmlDouble) -> None:
    """Denied is not 'no processes'."""
    double.add_process(2, 4_000_000)
    double.deny_processes(gpu=2)
    with Sampler(double) as sampler:
        denied = sampler.until(steady)
        assert [gone(gpu["processes"]) for gpu in denied["gpus"]] == [None, None, DENIED, None]
        assert denied["gpus"][0]["processes"] == []
        double.deny_processes(0, gpu=2)
        listed = sampler.until(lambda now: isinstance(now["gpus"][2]["processes"], list))
        assert [one["pid"] for one in listed["gpus"][2]["processes"]] == [4_000_000]
        double.deny_processes(gpu=2)
        sampler.until(lambda now: gone(now["gpus"][2]["processes"]) == DENIED)


def test_one_process_list_denied(double: NvmlDouble) -> None:
    """With the compute processes denied, those of the other lists are still told."""
    double.add_process(2, 4_000_001, "G")
    for name in PROCESS_LISTS:
        if "GetCompute" in name:
            double.fail(name, 4, gpu=2)
    assert [one["pid"] for one in once(double)["gpus"][2]["processes"]] == [4_000_001]


def test_process_share_unsupported(double: NvmlDouble) -> None:
    """It is unsupported, not 0 %; a process that did nothing has 0."""
    double.add_process(2, 4_000_000, sm=30)
    double.add_process(2, 4_000_001, sm=None)
    with Sampler(double) as sampler:
        sampler.until(lambda now: _shares(now) == [30, 0])
        double.set(2, "process_utilization", None)
        sampler.until(lambda now: [gone(share) for share in _shares(now)] == [UNSUPPORTED] * 2)
        double.set(2, "process_utilization", 1)
        double.mig(2, [{}])
        sampler.until(lambda now: now["gpus"][2]["mig_mode"] == "on")
        sampler.until(lambda now: [gone(share) for share in _shares(now)] == [UNSUPPORTED] * 2)
        double.mig(2, None)
        sampler.until(lambda now: _shares(now) == [30, 0])


def _shares(snapshot: Snapshot) -> list[object]:
    processes = snapshot["gpus"][2]["processes"]
    return [process["sm_percent"] for process in processes] if isinstance(processes, list) else []


def test_process_memory_unknown(double: NvmlDouble) -> None:
    double.add_process(2, 4_000_000, memory=None)
    [process] = once(double)["gpus"][2]["processes"]
    assert gone(process["memory_bytes"])


def test_whose_process(double: NvmlDouble) -> None:
    """A process of this machine is named; one that is gone, or counted by another container, is not."""
    program = "import ctypes, sys; ctypes.CDLL('libnvidia-ml.so.1'); print(flush=True); sys.stdin.read()"
    with (
        subprocess.Popen(
            [sys.executable, "-c", program, "marker-of-this-test"],
            env=os.environ | double.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as user,
        subprocess.Popen(["sleep", "1000"]) as stranger,
        Sampler(double, "--only", "", "--hz", "10") as sampler,
    ):
        assert user.stdout
        user.stdout.readline()
        for pid in (user.pid, stranger.pid, 4_000_000):
            double.add_process(2, pid)
        snapshot = sampler.until(lambda now: now["nvml"] == "ok" and now["gpus"][2]["processes"])
        mine, other, absent = (
            next(one for one in snapshot["gpus"][2]["processes"] if one["pid"] == pid)
            for pid in (user.pid, stranger.pid, 4_000_000)
        )
        assert mine["where"] == "here"
        assert "marker-of-this-test" in mine["command"]
        if snapshot["host"]["pid_namespace"] == "initial":
            assert (other["where"], other["command"], absent["where"]) == ("here", "sleep 1000", "gone")
        else:
            # The number is another container's: the local process that happens to have it is not meant.
            assert (other["where"], absent["where"]) == ("elsewhere", "elsewhere")
            assert gone(other["command"])
        assert gone(absent["command"])
        assert gone(absent["user"])
        stranger.kill()
        user.kill()


# Events, instances, links


def test_xid(double: NvmlDouble) -> None:
    """Told with its meaning, of the right card, the last sixteen; a lost card keeps them."""
    with Sampler(double) as sampler:
        sampler.until(steady)
        double.xid(2, 79)
        told = sampler.until(lambda now: now["gpus"][2]["xid"])
        [event] = told["gpus"][2]["xid"]
        assert (event["code"], event["text"]) == (79, "GPU has fallen off the bus")
        assert abs(event["t"] - time.time()) < 60
        assert told["gpus"][0]["xid"] == []
        double.lose(2)
        lost = sampler.until(lambda now: now["gpus"][2]["unreadable"])
        assert [one["code"] for one in lost["gpus"][2]["xid"]] == [79]
        double.lose(2, 0)
        sampler.until(steady)
        for code in range(20):
            double.xid(1, code + 1)
        many = sampler.until(lambda now: now["gpus"][1]["xid"] and now["gpus"][1]["xid"][-1]["code"] == 20)
        assert [one["code"] for one in many["gpus"][1]["xid"]] == list(range(5, 21))


def test_events_unsupported(double: NvmlDouble) -> None:
    """That none was heard is not told where none can be."""
    double.set(2, "events_supported", None)
    snapshot = once(double)
    assert gone(snapshot["gpus"][2]["xid"]) == UNSUPPORTED
    assert snapshot["gpus"][1]["xid"] == []
    double.fail("nvmlEventSetCreate", 999)
    assert gone(once(double)["gpus"][1]["xid"]) == UNKNOWN


def test_mig_without_permission(double: NvmlDouble) -> None:
    """Instances whose memory may not be read are still instances."""
    double.mig(2, [{}, {"gpu_instance": 9, "memory_used": 5}])
    gpu = once(double)["gpus"][2]
    assert [(one["gpu_instance"], one["memory_used_bytes"]) for one in gpu["mig"]] == [(1, 2**30), (9, 5)]
    assert gone(gpu["utilization_gpu_percent"]) == UNSUPPORTED
    double.fail("nvmlDeviceGetMemoryInfo_v2", 4, gpu=2)
    double.fail("nvmlDeviceGetMemoryInfo", 4, gpu=2)
    gpu = once(double)["gpus"][2]
    assert [gone(one["memory_used_bytes"]) for one in gpu["mig"]] == [DENIED, DENIED]


def test_link_down(double: NvmlDouble) -> None:
    double.link(0, 1, up=False)
    snapshot = once(double)
    assert [link["state"] for link in snapshot["gpus"][0]["nvlink"]] == ["up", "down", "up", "up"]
    assert snapshot["topology"][0][1]["nvlinks"] == 3


# Calls that do not return


def test_slow_pcie_reading(double: NvmlDouble) -> None:
    """The reading that takes 20 ms does not slow the samples."""
    double.delay("nvmlDeviceGetPcieThroughput", 0.5)
    with Sampler(double) as sampler:
        first = sampler.until(steady)
        assert first["gpus"][2]["pcie_tx_bytes_per_second"] == 3000 * 1024
        calls, samples = double.calls("nvmlDeviceGetPcieThroughput"), sampler.samples
        sampler.until(lambda _now: double.calls("nvmlDeviceGetPcieThroughput") >= calls + 4)
        assert sampler.samples - samples >= 4


def test_hanging_pcie_reading(double: NvmlDouble) -> None:
    """A reading that does not return leaves no figure of before standing."""
    with Sampler(double) as sampler:
        sampler.until(steady)
        double.hang("nvmlDeviceGetPcieThroughput", gpu=2)
        hung = sampler.until(lambda now: gone(now["gpus"][2]["pcie_tx_bytes_per_second"]))
        assert hung["gpus"][2]["unreadable"] is None
        double.release()
        sampler.until(steady)


@pytest.mark.parametrize("deaf", [False, True])
def test_hanging_call(double: NvmlDouble, monkeypatch: pytest.MonkeyPatch, deaf: bool) -> None:
    """The monitor says that news is old and why, ends even a sampler that hears no signal, and goes on."""
    for name, value in double.environment().items():
        monkeypatch.setenv(name, value)
    watching = Monitor(10)
    watching.start()
    try:
        until(lambda: watching.state == "live" and watching.snapshot)
        double.hang("nvmlDeviceGetUtilizationRates", gpu=2, deaf=deaf)
        told = until(lambda: watching.snapshot and watching.snapshot.get("sampler"))
        assert told and told["state"] == "stale"
        assert watching.restarts == 1
        assert watching.problem
        assert "a call into the driver may hang" in watching.problem
        double.release()
        until(lambda: watching.snapshot and watching.snapshot["sampler"]["state"] == "live")
        assert watching.state == "live"
        assert not watching.problem
    finally:
        double.release()
        watching.stop()


def test_hanging_start(double: NvmlDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single look is given up after its time, and tells the host all the same."""
    for name, value in double.environment().items():
        monkeypatch.setenv(name, value)
    double.hang("nvmlInitWithFlags")
    snapshot = read_once(timeout_s=2)
    assert (snapshot["nvml"]["state"], snapshot["gpus"]) == ("error", [])
    assert "does not answer" in snapshot["nvml"]["text"]
    assert snapshot["host"]["memory_total_bytes"] > 0
