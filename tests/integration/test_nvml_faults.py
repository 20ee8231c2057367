"""What the sampler says when the driver, a GPU or a call fails: from the start, while it runs, and healed.

A figure that cannot be had says why; none is invented, and no GPU's row goes away or takes others with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from probes.nvml.card import LOST_S
from probes.nvml.fields import STATIC, names
from probes.nvml.snapshot import is_missing
from runners.monitor import Monitor, read_once
from tests.integration.sampling import Sampler, Snapshot, differing, gone, once
from tests.integration.waiting import until
from tests.nvml import NvmlDouble
from tests.nvml.groups import OLD_DRIVER, PROCESS_LISTS

LOST = "error GPU_IS_LOST"
UNKNOWN = "error UNKNOWN"
DENIED = "denied NO_PERMISSION"
UNSUPPORTED = "unsupported NOT_SUPPORTED"
KNOWN_OF_LOST = {"index", "uuid", "serial", "pci_bus_id", "name", "memory_total_bytes", "xid"}
"""What a lost card's row still says: which one it is."""
MEMORY = {"memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes"}


@pytest.fixture
def double(nvml_makeable: None, tmp_path: Path) -> Iterator[NvmlDouble]:
    """Four GPUs, in pairs; the third is to fail."""
    with NvmlDouble(tmp_path, 4) as double:
        yield double


def _steady(snapshot: Snapshot) -> bool:
    """Whether all rates are there, which takes two samples, or a look at the PCIe link."""
    return snapshot["nvml"] == "ok" and not any(
        gone(gpu[f"pcie_{way}_bytes_per_second"]) for gpu in snapshot["gpus"] for way in ("tx", "rx")
    )


def _bad(row: Snapshot, why: str) -> None:
    """A card that cannot be read is a row all of whose figures say why."""
    assert gone(row["unreadable"]) == why
    assert {name for name, value in row.items() if gone(value) != why} <= KNOWN_OF_LOST


def _others(snapshot: Snapshot) -> list[Snapshot]:
    return [snapshot["gpus"][index] for index in (0, 1, 3)]


# The driver


@pytest.mark.parametrize(
    ("code", "state", "reason"),
    [
        (9, "no-driver", "DRIVER_NOT_LOADED"),
        (18, "mismatch", "LIB_RM_VERSION_MISMATCH"),
        (4, "denied", "NO_PERMISSION"),
        (15, "lost", "GPU_IS_LOST"),
        (999, "error", "UNKNOWN"),
    ],
)
def test_start_refused(double: NvmlDouble, code: int, state: str, reason: str) -> None:
    """No GPU is told, and why in a line of plain words."""
    double.fail_init(code)
    snapshot = once(double)
    assert (snapshot["nvml"]["state"], snapshot["nvml"]["reason"]) == (state, f"NVML_ERROR_{reason}")
    assert len(snapshot["nvml"]["text"].split()) > 4
    assert "\n" not in snapshot["nvml"]["text"]
    assert snapshot["gpus"] == snapshot["topology"] == snapshot["p2p"] == []
    assert is_missing(snapshot["driver"])
    assert is_missing(snapshot["cuda_driver"])


def test_start_refused_then_healed(double: NvmlDouble) -> None:
    """A driver that comes later is found without a restart; so is a library."""
    double.uninstall()
    with Sampler(double) as sampler:
        snapshot = sampler.until(lambda now: now)
        assert (snapshot["nvml"]["state"], snapshot["gpus"]) == ("no-library", [])
        double.fail_init(9)
        double.install()
        sampler.until(lambda now: now["nvml"]["state"] == "no-driver")
        double.fail_init(0)
        assert len(sampler.until(lambda now: now["nvml"] == "ok")["gpus"]) == 4


def test_driver_reloaded(double: NvmlDouble) -> None:
    """The process replaces itself: its id stays, its samples are counted on, and the new driver is told."""
    with Sampler(double) as sampler:
        before = sampler.until(_steady)
        double.reload_driver("575.51.03")
        sampler.until(lambda now: now["nvml"] != "ok" and now["nvml"]["state"] != "ok")
        after = sampler.until(lambda now: now["nvml"] == "ok")
        assert after["driver"] == "575.51.03"
        assert after["seq"] > before["seq"]
        assert sampler.process.poll() is None
        after = sampler.until(_steady)
        assert differing(after["gpus"][0], before["gpus"][0]) == {}


def test_driver_reloaded_stays_away(double: NvmlDouble) -> None:
    """While the next driver is not there yet, that is what is said."""
    with Sampler(double) as sampler:
        sampler.until(_steady)
        double.fail_init(9)
        double.reload_driver()
        sampler.until(lambda now: now["nvml"] != "ok" and now["nvml"]["state"] == "no-driver")
        double.fail_init(0)
        assert len(sampler.until(lambda now: now["nvml"] == "ok")["gpus"]) == 4


def test_count_refused(double: NvmlDouble) -> None:
    double.fail("nvmlDeviceGetCount_v2", 999)
    with Sampler(double) as sampler:
        snapshot = sampler.until(lambda now: now)
        assert (snapshot["nvml"]["state"], snapshot["nvml"]["reason"]) == ("error", "NVML_ERROR_UNKNOWN")
        double.heal("nvmlDeviceGetCount_v2")
        sampler.until(lambda now: now["nvml"] == "ok")


def test_no_gpus(nvml_makeable: None, tmp_path: Path) -> None:
    """A driver without a card is no fault."""
    with NvmlDouble(tmp_path, 0) as double:
        snapshot = once(double)
        assert (snapshot["nvml"], snapshot["gpus"], snapshot["topology"]) == ("ok", [], [])


def test_old_driver(nvml_makeable: None, tmp_path: Path) -> None:
    """What it lacks is read by older names, or is unsupported; memory's used holds what is reserved."""
    with NvmlDouble(tmp_path, 1, without=OLD_DRIVER) as double:
        double.add_process(0, 4_000_000, memory=2**20)
        double.set(0, "clocks_event_reasons", 0x8)
        [gpu] = once(double)["gpus"]
        assert gpu["memory_used_bytes"] == double.get(0, "memory_used") + double.get(0, "memory_reserved")
        assert gone(gpu["memory_reserved_bytes"])
        assert [(one["pid"], one["memory_bytes"]) for one in gpu["processes"]] == [(4_000_000, 2**20)]
        assert gpu["throttle_reasons"] == ["hardware slowdown"]
        assert gpu["temperature_celsius"] == 35
        assert gone(gpu["numa_node"]) == "unsupported FUNCTION_NOT_FOUND"


# A GPU


@pytest.mark.parametrize(
    ("code", "why"), [(15, LOST), (4, DENIED), (999, UNKNOWN), (16, "error RESET_REQUIRED")]
)
def test_handle_refused(double: NvmlDouble, code: int, why: str) -> None:
    """The card stays a row from the start, and is read as soon as it can be."""
    sound = once(double)
    double.fail_handle(2, code)
    with Sampler(double) as sampler:
        snapshot = sampler.until(_steady_beside_it)
        assert [gpu["index"] for gpu in snapshot["gpus"]] == [0, 1, 2, 3]
        _bad(snapshot["gpus"][2], why)
        assert differing(snapshot["gpus"][0], sound["gpus"][0]) == {}
        assert gone(snapshot["topology"][3][2]) == gone(snapshot["p2p"][2][1]) == why
        assert snapshot["topology"][0][1]["short"] == "NV4"
        double.fail_handle(2, 0)
        healed = sampler.until(_steady)
        assert healed["gpus"][2] == sound["gpus"][2]
        assert not is_missing(healed["topology"][0][2])


def _steady_beside_it(snapshot: Snapshot) -> bool:
    return snapshot["nvml"] == "ok" and _steady(
        {**snapshot, "gpus": [snapshot["gpus"][index] for index in (0, 1, 3)]}
    )


@pytest.mark.parametrize("handle", [False, True])
def test_gpu_lost_while_running(double: NvmlDouble, handle: bool) -> None:
    """Its row keeps which card it is; the others go on; it comes back by itself."""
    with Sampler(double) as sampler:
        before = sampler.until(_steady)
        double.lose(2, handle=handle)
        lost = sampler.until(lambda now: now["gpus"][2]["unreadable"] is not None)
        _bad(lost["gpus"][2], LOST)
        for name in KNOWN_OF_LOST:
            assert lost["gpus"][2][name] == before["gpus"][2][name]
        assert _others(lost) == _others(before)
        assert gone(lost["topology"][0][2]) == LOST
        double.lose(2, 0)
        healed = sampler.until(lambda now: now["gpus"][2]["unreadable"] is None and _steady(now))
        assert healed["gpus"] == before["gpus"]
        assert healed["topology"] == before["topology"]


def test_a_lost_gpu_keeps_its_identity_over_later_looks(double: NvmlDouble) -> None:
    with Sampler(double, "--hz", "5") as sampler:
        whole = sampler.until(lambda now: now["gpus"][2]["unreadable"] is None)["gpus"][2]
        double.lose(2, handle=False)
        lost = sampler.until(lambda now: now["gpus"][2]["unreadable"])
        # Each look after it opens the card and fails at its first field.
        later = sampler.until(lambda now: now["t"] >= lost["t"] + 2 * LOST_S)["gpus"][2]
        for name in ("uuid", "pci_bus_id", "name", "serial", "memory_total_bytes"):
            assert later[name] == whole[name]
        assert gone(later["vbios"])


def test_gpu_lost_before_the_start(double: NvmlDouble) -> None:
    double.lose(2)
    snapshot = once(double)
    _bad(snapshot["gpus"][2], LOST)
    assert [gone(gpu["unreadable"]) for gpu in snapshot["gpus"]] == [None, None, LOST, None]


def test_every_gpu_lost(double: NvmlDouble) -> None:
    """They stay rows: the driver still answers."""
    with Sampler(double) as sampler:
        sampler.until(_steady)
        for gpu in range(4):
            double.lose(gpu)
        lost = sampler.until(lambda now: all(gpu["unreadable"] for gpu in now["gpus"]))
        assert (lost["nvml"], len(lost["gpus"])) == ("ok", 4)
        for gpu in range(4):
            double.lose(gpu, 0)
        sampler.until(_steady)


def test_gpu_taken_out(double: NvmlDouble) -> None:
    """No card is shown in another's row when those behind one that was taken out move up."""
    with Sampler(double) as sampler:
        before = sampler.until(_steady)
        uuids = [gpu["uuid"] for gpu in before["gpus"]]
        double.remove(1)
        sampler.until(lambda now: now["gpus"][1]["unreadable"] is not None)
        calls = double.calls("nvmlDeviceGetHandleByUUID")
        later = sampler.until(lambda _now: double.calls("nvmlDeviceGetHandleByUUID") > calls + 1)
        assert [gpu["uuid"] for gpu in later["gpus"]] == uuids
        assert later["gpus"][1]["unreadable"] is not None
        assert later["gpus"][2] == before["gpus"][2]
        double.remove(1, back=True)
        healed = sampler.until(lambda now: now["gpus"][1]["unreadable"] is None)
        assert [gpu["uuid"] for gpu in healed["gpus"]] == uuids


# A figure


def test_memory_unsupported(double: NvmlDouble) -> None:
    """As where a GPU shares the host's memory: unsupported, and not the host's figures."""
    sound = once(double)["gpus"][2]
    double.set(2, "memory_used", None)
    assert differing(once(double)["gpus"][2], sound) == dict.fromkeys(MEMORY, UNSUPPORTED)
    double.set(2, "memory_used", 12 * 2**30)
    with Sampler(double) as sampler:
        sampler.until(_steady)
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
        before = sampler.until(_steady)
        double.fail("nvmlDeviceGetPowerUsage", code, gpu=2)
        failed = sampler.until(lambda now: gone(now["gpus"][2]["power_watts"]))
        assert differing(failed["gpus"][2], before["gpus"][2]) == {"power_watts": why}
        assert _others(failed) == _others(before)
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
        assert _others(failed) == _others(sound), call
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
        before = sampler.until(_steady)
        calls = _calls_of_gpus(double)
        for call in calls:
            double.fail(call, 4, gpu=2)
        failed = sampler.until(
            lambda now: all(gone(value) for name, value in now["gpus"][2].items() if name not in asked_once)
        )
        assert {gone(value) for name, value in failed["gpus"][2].items() if name not in asked_once} == {
            DENIED
        }
        assert _others(failed) == _others(before)
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
        failed = sampler.until(_steady_beside_it)
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
        denied = sampler.until(_steady)
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
        sampler.until(_steady)
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
        sampler.until(_steady)
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
        first = sampler.until(_steady)
        assert first["gpus"][2]["pcie_tx_bytes_per_second"] == 3000 * 1024
        calls, samples = double.calls("nvmlDeviceGetPcieThroughput"), sampler.samples
        sampler.until(lambda _now: double.calls("nvmlDeviceGetPcieThroughput") >= calls + 4)
        assert sampler.samples - samples >= 4


def test_hanging_pcie_reading(double: NvmlDouble) -> None:
    """A reading that does not return leaves no figure of before standing."""
    with Sampler(double) as sampler:
        sampler.until(_steady)
        double.hang("nvmlDeviceGetPcieThroughput", gpu=2)
        hung = sampler.until(lambda now: gone(now["gpus"][2]["pcie_tx_bytes_per_second"]))
        assert hung["gpus"][2]["unreadable"] is None
        double.release()
        sampler.until(_steady)


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
        until(lambda: watching.restarts)
        assert watching.problem
        assert "a call into the driver may hang" in watching.problem
        assert watching.snapshot
        assert watching.snapshot["sampler"]["state"] == "stale"
        double.release()
        until(lambda: watching.state == "live" and watching.problem is None)
        assert watching.snapshot["sampler"]["state"] == "live"
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
