"""What the sampler makes of NVML's and Linux's answers, one part at a time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from probes.nvml import fields, words
from probes.nvml.calls import Nvml
from probes.nvml.counters import Counters
from probes.nvml.host import Host
from probes.nvml.links import read_links, shared_links
from probes.nvml.missing import error_name, is_missing, missing
from probes.nvml.processes import CardProcesses, People
from probes.nvml.sampler import bounded


class Answers(Nvml):
    """In the choke point's place: calls by name, with what they answer."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def ask(self, name: str, *arguments: Any) -> Any:
        self.asked.append(name)
        answer = self.answers.get(name, missing(13))
        return answer(*arguments) if callable(answer) else answer

    def code_of(self, name: str, *arguments: Any) -> tuple[int, Any]:
        answer: tuple[int, Any] = self.answers[name]
        return answer

    def has(self, name: str) -> bool:
        return not name.endswith("_v1")

    def constant(self, _name: str, default: int) -> int:
        return default


def test_codes_become_states() -> None:
    assert missing(3) == {"state": "unsupported", "reason": "NVML_ERROR_NOT_SUPPORTED"}
    assert missing(13)["state"] == "unsupported"
    assert missing(4) == {"state": "denied", "reason": "NVML_ERROR_NO_PERMISSION"}
    assert missing(15) == {"state": "error", "reason": "NVML_ERROR_GPU_IS_LOST"}
    assert error_name(4711) == "NVML_ERROR_4711"
    assert is_missing(missing(3))
    assert not any(map(is_missing, (0, None, [], {}, {"state": "up"}, "P0")))


def test_bits_in_words() -> None:
    assert words.throttle_reasons(0) == []
    assert words.throttle_reasons(0x41) == ["idle", "thermal slowdown (hardware)"]
    assert words.throttle_reasons(0x10004) == ["power cap (software)", "reason 0x10000"]
    assert words.cpu_list(0b1111) == "0-3"
    assert words.cpu_list((0xFFF << 24) | 1) == "0,24-35"
    assert words.cpu_list(0) == ""
    assert [words.performance_state(number) for number in (0, 15, 32)] == ["P0", "P15", "unknown"]


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (99, 10), (0, 0.1), (-3, 0.1), (float("nan"), 1)])
def test_the_rate_is_bounded(asked: float, given: float) -> None:
    assert bounded(asked) == given


# -- processes -------------------------------------------------------------------------------------


def proc(folder: Path, pid: int, command: bytes = b"python\0train.py\0", maps: str = "") -> None:
    (folder / str(pid) / "fd").mkdir(parents=True)
    (folder / str(pid) / "cmdline").write_bytes(command)
    (folder / str(pid) / "comm").write_bytes(b"kworker\n")
    (folder / str(pid) / "maps").write_text(maps)


def running(pid: int, memory: int | None = 5, instance: int = 0xFFFFFFFF) -> SimpleNamespace:
    return SimpleNamespace(pid=pid, usedGpuMemory=memory, gpuInstanceId=instance)


LISTS = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses")


def read(people: People, compute: Any, graphics: Any = (), shares: Any = (6, None)) -> Any:
    answers = {
        f"{LISTS[0]}_v3": compute,
        f"{LISTS[1]}_v3": graphics,
        "nvmlDeviceGetProcessUtilization": shares,
    }
    return CardProcesses(people).read(Answers(**answers), None, 1.0)


def share(pid: int, stamp: int, percent: int) -> SimpleNamespace:
    return SimpleNamespace(pid=pid, timeStamp=stamp, smUtil=percent)


def test_a_process_has_its_user_command_type_and_share(tmp_path: Path) -> None:
    proc(tmp_path, 7)
    people = People(str(tmp_path), initial=True)
    samples = (0, [share(7, 10, 30), share(7, 20, 40), share(9, 20, 250)])
    (row,) = read(people, [running(7, instance=3)], shares=samples)
    assert (row["pid"], row["type"], row["where"], row["command"]) == (7, "C", "here", "python train.py")
    assert (row["memory_bytes"], row["sm_percent"], row["gpu_instance"]) == (5, 40, 3)
    assert row["user"]


def test_one_that_computes_and_draws_is_one_row(tmp_path: Path) -> None:
    proc(tmp_path, 7)
    (row,) = read(People(str(tmp_path), initial=True), [running(7)], [running(7)])
    assert row["type"] == "C+G"
    # Who has no sample was idle: NVML returns one for each process with non-zero utilisation.
    assert row["sm_percent"] == 0


def test_a_process_that_ended_is_gone(tmp_path: Path) -> None:
    (row,) = read(People(str(tmp_path), initial=True), [running(7)])
    assert row["where"] == "gone"
    assert row["command"] == {"state": "error", "reason": "no such process any more"}


def test_in_a_container_a_number_is_no_process_of_its_own(tmp_path: Path) -> None:
    proc(tmp_path, 7, b"nginx\0")
    proc(tmp_path, 8, maps="7f00-7f01 r-xp 00000000 00:00 0 /usr/lib/x86_64-linux-gnu/libcuda.so.550\n")
    rows = read(People(str(tmp_path), initial=False), [running(7), running(8), running(9)])
    assert [row["where"] for row in rows] == ["elsewhere", "here", "elsewhere"]
    assert is_missing(rows[0]["command"])
    assert is_missing(rows[0]["user"])
    assert rows[1]["command"] == "python train.py"


def test_in_a_container_an_open_device_tells_a_process_of_its_own(tmp_path: Path) -> None:
    proc(tmp_path, 7)
    (tmp_path / "7" / "fd" / "3").symlink_to("/dev/nvidia0")
    (row,) = read(People(str(tmp_path), initial=False), [running(7)])
    assert row["where"] == "here"


def test_what_the_driver_does_not_tell_is_no_zero(tmp_path: Path) -> None:
    proc(tmp_path, 7)
    people = People(str(tmp_path), initial=True)
    (row,) = read(people, [running(7, None)], shares=(3, None))
    assert row["memory_bytes"]["state"] == "error"
    assert row["sm_percent"] == {"state": "unsupported", "reason": "NVML_ERROR_NOT_SUPPORTED"}


def test_a_refused_list_is_not_an_empty_one(tmp_path: Path) -> None:
    people = People(str(tmp_path), initial=True)
    assert read(people, missing(4)) == {"state": "denied", "reason": "NVML_ERROR_NO_PERMISSION"}
    assert read(people, [], missing(3)) == []


def test_a_kernel_thread_and_a_long_command(tmp_path: Path) -> None:
    proc(tmp_path, 7, b"")
    proc(tmp_path, 8, b"x" * 5000)
    people = People(str(tmp_path), initial=True)
    assert people.describe(7, 0.0)["command"] == "[kworker]"
    assert len(people.describe(8, 0.0)["command"]) == 400


def test_an_old_driver_is_asked_by_older_names(tmp_path: Path) -> None:
    proc(tmp_path, 7)
    nvml = Answers(**{f"{LISTS[0]}_v2": [running(7)], "nvmlDeviceGetProcessUtilization": (6, None)})
    processes = CardProcesses(People(str(tmp_path), initial=True))
    assert [row["pid"] for row in processes.read(nvml, None, 1.0)] == [7]
    nvml.asked.clear()
    processes.read(nvml, None, 2.0)
    assert nvml.asked[0] == f"{LISTS[0]}_v2"


# -- counters --------------------------------------------------------------------------------------


def value(number: int = 0, code: int = 0, kind: int = 3) -> SimpleNamespace:
    return SimpleNamespace(
        nvmlReturn=code, valueType=kind, value=SimpleNamespace(ullVal=number, uiVal=number)
    )


def counted(pcie: int, nvlink: SimpleNamespace, energy: int = 5000) -> Answers:
    values = [value(energy), value(70, kind=1), value(pcie), value(2 * pcie), nvlink, nvlink]
    return Answers(nvmlDeviceGetFieldValues=values)


def test_rates_are_increases_over_time() -> None:
    counters = Counters()
    first = counters.read(counted(1000, value(10)), None, 10.0)
    assert is_missing(first["pcie_tx_bytes_per_second"])
    assert (first["energy_joules"], first["temperature_memory_celsius"]) == (5.0, 70)
    second = counters.read(counted(5000, value(12)), None, 12.0)
    assert second["pcie_tx_bytes_per_second"] == 2000
    assert second["pcie_rx_bytes_per_second"] == 4000
    assert second["nvlink_tx_bytes_per_second"] == 1024
    assert not counters.pcie_by_watching
    # The driver began to count anew: no rate, and none that is negative.
    third = counters.read(counted(0, value(13)), None, 13.0)
    assert is_missing(third["pcie_tx_bytes_per_second"])


def test_a_card_without_counters_of_its_link_is_watched_instead() -> None:
    counters = Counters()
    found = counters.read(Answers(), None, 1.0)
    assert counters.pcie_by_watching
    assert found["energy_joules"] == {"state": "unsupported", "reason": "NVML_ERROR_FUNCTION_NOT_FOUND"}
    assert is_missing(found["nvlink_rx_bytes_per_second"])


# -- fields ----------------------------------------------------------------------------------------


def test_a_call_that_a_driver_dropped_has_a_successor() -> None:
    nvml = Answers(nvmlDeviceGetTemperatureV=55, nvmlDeviceGetCurrentClocksEventReasons=0x4)
    row: dict[str, Any] = {}
    fields.read(nvml, None, fields.FAST, row)
    assert (row["temperature_celsius"], row["throttle_reasons"]) == (55, ["power cap (software)"])
    assert row["utilization_gpu_percent"] == row["power_watts"] == missing(13)


# -- links and host --------------------------------------------------------------------------------


def test_links_and_what_they_lead_to() -> None:
    bus = SimpleNamespace(busId=b"00000000:42:00.0")
    nvml = Answers(
        nvmlDeviceGetNvLinkState=lambda _handle, link: [1, 0][link] if link < 2 else missing(2),
        nvmlDeviceGetNvLinkRemotePciInfo=bus,
        nvmlDeviceGetNvLinkRemoteDeviceType=0,
        nvmlDeviceGetNvLinkVersion=4,
    )
    links = read_links(nvml, None)
    up = {"link": 0, "state": "up", "version": 4, "remote_pci_bus_id": "00000000:42:00.0", "switch": False}
    assert links == [up, {"link": 1, "state": "down", "version": None, "remote_pci_bus_id": None}]
    assert shared_links(links, [], "0000:42:00.0") == 1
    assert shared_links(links, [], "0000:43:00.0") == 0
    switched = [{**up, "switch": True, "remote_pci_bus_id": "00000000:C0:00.0"}] * 2
    assert shared_links(switched, switched[:1], "0000:43:00.0") == 1
    assert shared_links(missing(3), links, "x") == 0
    assert is_missing(read_links(Answers(), None))


def test_the_host_by_its_proc(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  10 0 10 70 10 0 0 0 0 0\n")
    (tmp_path / "meminfo").write_text(
        "MemTotal: 100 kB\nMemAvailable: 40 kB\nSwapTotal: 8 kB\nSwapFree: 5 kB\n"
    )
    (tmp_path / "loadavg").write_text("1.50 1.0 0.5 1/200 4242\n")
    host = Host(str(tmp_path))
    first = host.read()
    assert is_missing(first["cpu_percent"])
    assert is_missing(first["uptime_seconds"])
    assert (first["memory_used_bytes"], first["swap_used_bytes"], first["load_1m"]) == (61440, 3072, 1.5)
    (tmp_path / "stat").write_text("cpu  30 0 20 120 30 0 0 0 0 0\n")
    assert host.read()["cpu_percent"] == 30.0
