"""What the sampler says when the driver or a whole GPU fails: from the start, while it runs, and healed.

No figure is invented, and no GPU's row goes away or takes others with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from probes.nvml.card import LOST_S
from probes.nvml.snapshot import is_missing
from tests.integration.sampling import (
    DENIED,
    LOST,
    UNKNOWN,
    Sampler,
    Snapshot,
    differing,
    gone,
    once,
    others,
    steady,
    steady_beside_it,
)
from tests.nvml import NvmlDouble
from tests.nvml.groups import OLD_DRIVER

KNOWN_OF_LOST = {"index", "uuid", "serial", "pci_bus_id", "name", "memory_total_bytes", "xid"}
"""What a lost card's row still says: which one it is."""


@pytest.fixture
def double(nvml_makeable: None, tmp_path: Path) -> Iterator[NvmlDouble]:
    """Four GPUs, in pairs; the third is to fail."""
    with NvmlDouble(tmp_path, 4) as double:
        yield double


def _bad(row: Snapshot, why: str) -> None:
    """A card that cannot be read is a row all of whose figures say why."""
    assert gone(row["unreadable"]) == why
    assert {name for name, value in row.items() if gone(value) != why} <= KNOWN_OF_LOST


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
        before = sampler.until(steady)
        double.reload_driver("575.51.03")
        sampler.until(lambda now: now["nvml"] != "ok" and now["nvml"]["state"] != "ok")
        after = sampler.until(lambda now: now["nvml"] == "ok")
        assert after["driver"] == "575.51.03"
        assert after["seq"] > before["seq"]
        assert sampler.process.poll() is None
        after = sampler.until(steady)
        assert differing(after["gpus"][0], before["gpus"][0]) == {}


def test_driver_reloaded_stays_away(double: NvmlDouble) -> None:
    """While the next driver is not there yet, that is what is said."""
    with Sampler(double) as sampler:
        sampler.until(steady)
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
        snapshot = sampler.until(steady_beside_it)
        assert [gpu["index"] for gpu in snapshot["gpus"]] == [0, 1, 2, 3]
        _bad(snapshot["gpus"][2], why)
        assert differing(snapshot["gpus"][0], sound["gpus"][0]) == {}
        assert gone(snapshot["topology"][3][2]) == gone(snapshot["p2p"][2][1]) == why
        assert snapshot["topology"][0][1]["short"] == "NV4"
        double.fail_handle(2, 0)
        healed = sampler.until(steady)
        assert healed["gpus"][2] == sound["gpus"][2]
        assert not is_missing(healed["topology"][0][2])


@pytest.mark.parametrize("handle", [False, True])
def test_gpu_lost_while_running(double: NvmlDouble, handle: bool) -> None:
    """Its row keeps which card it is; the others go on; it comes back by itself."""
    with Sampler(double) as sampler:
        before = sampler.until(steady)
        double.lose(2, handle=handle)
        lost = sampler.until(lambda now: now["gpus"][2]["unreadable"] is not None)
        _bad(lost["gpus"][2], LOST)
        for name in KNOWN_OF_LOST:
            assert lost["gpus"][2][name] == before["gpus"][2][name]
        assert others(lost) == others(before)
        assert gone(lost["topology"][0][2]) == LOST
        double.lose(2, 0)
        healed = sampler.until(lambda now: now["gpus"][2]["unreadable"] is None and steady(now))
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
        sampler.until(steady)
        for gpu in range(4):
            double.lose(gpu)
        lost = sampler.until(lambda now: all(gpu["unreadable"] for gpu in now["gpus"]))
        assert (lost["nvml"], len(lost["gpus"])) == ("ok", 4)
        for gpu in range(4):
            double.lose(gpu, 0)
        sampler.until(steady)


def test_gpu_taken_out(double: NvmlDouble) -> None:
    """No card is shown in another's row when those behind one that was taken out move up."""
    with Sampler(double) as sampler:
        before = sampler.until(steady)
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
