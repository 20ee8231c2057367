"""The double of NVML, read through pynvml: what is set is read, and every fault reaches the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pynvml
import pytest

from tests.nvml import NvmlDouble
from tests.nvml.build import functions
from tests.nvml.groups import OLD_DRIVER

READER = Path(__file__).with_name("scripts") / "nvml_reader.py"
GPU = {"gpu": 0}
P2P_READ = 0  # pynvml's constant is a tuple


class Reader:
    """A process that asks pynvml."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(READER)],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self._process.kill()
        self._process.communicate()

    def send(self, *call: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def ask(self, *call: Any) -> Any:
        self.send(*call)
        return self.answer()

    def value(self, *call: Any) -> Any:
        answer = self.ask(*call)
        assert "value" in answer, answer
        return answer["value"]

    def error(self, *call: Any) -> Any:
        answer = self.ask(*call)
        assert "error" in answer, answer
        return answer["error"]


@pytest.fixture
def reader(nvml_double: NvmlDouble) -> Iterator[Reader]:
    with Reader(nvml_double.environment()) as reader:
        reader.value("nvmlInit")
        yield reader


def test_machine(nvml_double: NvmlDouble, reader: Reader) -> None:
    assert reader.value("nvmlSystemGetDriverVersion") == "570.86.15"
    assert reader.value("nvmlSystemGetCudaDriverVersion_v2") == 12080
    assert reader.value("nvmlDeviceGetCount") == 8
    assert reader.value("nvmlDeviceGetIndex", {"gpu": 7}) == 7
    pci = reader.value("nvmlDeviceGetPciInfo", {"gpu": 3})
    assert (pci["busId"], pci["busIdLegacy"], pci["bus"]) == ("00000000:1F:00.0", "0000:1F:00.0", 0x1F)
    for by, key in (
        ("nvmlDeviceGetHandleByPciBusId", pci["busId"]),
        ("nvmlDeviceGetHandleByUUID", reader.value("nvmlDeviceGetUUID", {"gpu": 3})),
    ):
        reader.value(f"found={by}", key)
        assert reader.value("nvmlDeviceGetIndex", {"kept": "found"}) == 3


@pytest.mark.parametrize(
    ("field", "value", "call", "wanted"),
    [
        ("utilization_gpu", 57, ("nvmlDeviceGetUtilizationRates", GPU), {"gpu": 57, "memory": 3}),
        ("encoder", 12, ("nvmlDeviceGetEncoderUtilization", GPU), [12, 167000]),
        ("decoder", 13, ("nvmlDeviceGetDecoderUtilization", GPU), [13, 167000]),
        ("temperature", 71, ("nvmlDeviceGetTemperature", GPU, 0), 71),
        ("temperature", 72, ("nvmlDeviceGetTemperatureV", GPU, 0), 72),
        ("temperature_slowdown", 90, ("nvmlDeviceGetTemperatureThreshold", GPU, 1), 90),
        ("power", 123_456, ("nvmlDeviceGetPowerUsage", GPU), 123_456),
        ("power_limit", 250_000, ("nvmlDeviceGetPowerManagementLimit", GPU), 250_000),
        ("power_limit_enforced", 240_000, ("nvmlDeviceGetEnforcedPowerLimit", GPU), 240_000),
        ("power_limit_default", 300_000, ("nvmlDeviceGetPowerManagementDefaultLimit", GPU), 300_000),
        (
            "power_limit_max",
            350_000,
            ("nvmlDeviceGetPowerManagementLimitConstraints", GPU),
            [100_000, 350_000],
        ),
        ("energy", 2**40, ("nvmlDeviceGetTotalEnergyConsumption", GPU), 2**40),
        ("clock_sm", 1111, ("nvmlDeviceGetClockInfo", GPU, pynvml.NVML_CLOCK_SM), 1111),
        ("clock_video_max", 1999, ("nvmlDeviceGetMaxClockInfo", GPU, pynvml.NVML_CLOCK_VIDEO), 1999),
        ("fan", 44, ("nvmlDeviceGetFanSpeed", GPU), 44),
        ("performance_state", 8, ("nvmlDeviceGetPerformanceState", GPU), 8),
        ("clocks_event_reasons", 0x48, ("nvmlDeviceGetCurrentClocksEventReasons", GPU), 0x48),
        ("clocks_event_reasons", 0x48, ("nvmlDeviceGetCurrentClocksThrottleReasons", GPU), 0x48),
        ("ecc_uncorrected_aggregate", 3, ("nvmlDeviceGetTotalEccErrors", GPU, 1, 1), 3),
        ("ecc_mode_pending", 0, ("nvmlDeviceGetEccMode", GPU), [1, 0]),
        ("retired_pending", 1, ("nvmlDeviceGetRetiredPagesPendingStatus", GPU), 1),
        ("remapped_failure", 1, ("nvmlDeviceGetRemappedRows", GPU), [0, 0, 0, 1]),
        ("pcie_generation", 3, ("nvmlDeviceGetCurrPcieLinkGeneration", GPU), 3),
        ("pcie_width", 8, ("nvmlDeviceGetCurrPcieLinkWidth", GPU), 8),
        ("pcie_rx", 777, ("nvmlDeviceGetPcieThroughput", GPU, pynvml.NVML_PCIE_UTIL_RX_BYTES), 777),
        ("compute_mode", 3, ("nvmlDeviceGetComputeMode", GPU), 3),
        ("persistence_mode", 0, ("nvmlDeviceGetPersistenceMode", GPU), 0),
        ("compute_major", 9, ("nvmlDeviceGetCudaComputeCapability", GPU), [9, 0]),
        ("architecture", 9, ("nvmlDeviceGetArchitecture", GPU), 9),
        ("minor_number", 5, ("nvmlDeviceGetMinorNumber", GPU), 5),
        ("numa_node", 1, ("nvmlDeviceGetNumaNodeId", GPU), 1),
        ("cpu_last", 3, ("nvmlDeviceGetCpuAffinity", GPU, 1), [0xF]),
        ("serial", "42", ("nvmlDeviceGetSerial", GPU), "42"),
        ("vbios", "1.2", ("nvmlDeviceGetVbiosVersion", GPU), "1.2"),
        ("name", "A card", ("nvmlDeviceGetName", GPU), "A card"),
    ],
)
def test_figures(
    nvml_double: NvmlDouble, reader: Reader, field: str, value: int | str, call: Any, wanted: Any
) -> None:
    """Set while the program runs, failing for one GPU alone, unsupported where there is none."""
    nvml_double.set(0, field, value)
    assert reader.value(*call) == wanted
    function = next(name for name in nvml_double.all_calls() if name.startswith(call[0]))
    nvml_double.fail(function, 999, gpu=0)
    assert reader.error(*call) == 999
    other = [{"gpu": 1} if part == GPU else part for part in call]
    assert reader.ask(*other).get("error") != 999
    nvml_double.heal(function, gpu=0)
    assert reader.value(*call) == wanted
    nvml_double.set(0, field, None)
    assert reader.error(*call) == pynvml.NVML_ERROR_NOT_SUPPORTED


def test_memory(nvml_double: NvmlDouble, reader: Reader) -> None:
    """Only the newer call tells reserved memory apart."""
    for name, value in (("memory_total", 1000), ("memory_reserved", 100), ("memory_used", 300)):
        nvml_double.set(0, name, value)
    assert reader.value("nvmlDeviceGetMemoryInfo", GPU) == {"total": 1000, "free": 600, "used": 400}
    newer = reader.value("nvmlDeviceGetMemoryInfo", GPU, pynvml.nvmlMemory_v2)
    assert {newer[name] for name in ("total", "free", "used", "reserved")} == {1000, 600, 300, 100}
    nvml_double.set(0, "memory_used", None)
    assert reader.error("nvmlDeviceGetMemoryInfo", GPU) == pynvml.NVML_ERROR_NOT_SUPPORTED


def test_processes(nvml_double: NvmlDouble, reader: Reader) -> None:
    assert reader.value("nvmlDeviceGetComputeRunningProcesses", GPU) == []
    nvml_double.add_process(0, 11, memory=2**20, sm=30)
    nvml_double.add_process(0, 12, "C+G", memory=None, sm=5)
    nvml_double.add_process(0, 13, "M", sm=None)
    compute = reader.value("nvmlDeviceGetComputeRunningProcesses", GPU)
    assert [(one["pid"], one["usedGpuMemory"]) for one in compute] == [(11, 2**20), (12, None)]
    assert [one["pid"] for one in reader.value("nvmlDeviceGetGraphicsRunningProcesses", GPU)] == [12]
    assert [one["pid"] for one in reader.value("nvmlDeviceGetMPSComputeRunningProcesses", GPU)] == [13]
    shares = reader.value("nvmlDeviceGetProcessUtilization", GPU, 0)
    assert [(one["pid"], one["smUtil"]) for one in shares] == [(11, 30), (12, 5)]
    late = int((time.time() + 60) * 1e6)
    assert reader.error("nvmlDeviceGetProcessUtilization", GPU, late) == pynvml.NVML_ERROR_NOT_FOUND
    nvml_double.set(0, "process_utilization", None)
    assert reader.error("nvmlDeviceGetProcessUtilization", GPU, 0) == pynvml.NVML_ERROR_NOT_SUPPORTED
    nvml_double.remove_process(0, 11)
    assert [one["pid"] for one in reader.value("nvmlDeviceGetComputeRunningProcesses", GPU)] == [12]
    nvml_double.deny_processes()
    for kind in ("Compute", "Graphics", "MPSCompute"):
        name = f"nvmlDeviceGet{kind}RunningProcesses"
        assert reader.error(name, GPU) == pynvml.NVML_ERROR_NO_PERMISSION


def test_mig(nvml_double: NvmlDouble, reader: Reader) -> None:
    assert reader.value("nvmlDeviceGetMigMode", GPU) == [0, 0]
    assert reader.error("nvmlDeviceGetName", {"mig": [0, 0]}) == pynvml.NVML_ERROR_NOT_FOUND
    nvml_double.mig(0, [{}, {"gpu_instance": 5, "memory_total": 2**31, "memory_used": 7}])
    nvml_double.add_process(0, 21, gpu_instance=5, compute_instance=0)
    second = {"mig": [0, 1]}
    assert reader.value("nvmlDeviceGetMigMode", GPU) == [1, 1]
    assert reader.value("nvmlDeviceGetName", second) == "NVIDIA A100-SXM MIG 1g.10gb"
    assert reader.value("nvmlDeviceGetUUID", second).startswith("MIG-")
    assert reader.value("nvmlDeviceGetGpuInstanceId", second) == 5
    assert reader.value("nvmlDeviceGetMemoryInfo", second)["used"] == 7
    assert reader.value("nvmlDeviceGetAttributes", second)["memorySizeMB"] == 2048
    assert [one["pid"] for one in reader.value("nvmlDeviceGetComputeRunningProcesses", second)] == [21]
    assert reader.value("nvmlDeviceGetComputeRunningProcesses", {"mig": [0, 0]}) == []
    assert reader.error("nvmlDeviceGetUtilizationRates", GPU) == pynvml.NVML_ERROR_NOT_SUPPORTED
    assert reader.error("nvmlDeviceGetPowerUsage", second) == pynvml.NVML_ERROR_NOT_SUPPORTED
    nvml_double.mig(0, None)
    assert reader.value("nvmlDeviceGetMigMode", GPU) == [0, 0]


def test_links(nvml_double: NvmlDouble, reader: Reader) -> None:
    assert reader.value("nvmlDeviceGetNvLinkState", GPU, 3) == 1
    assert reader.error("nvmlDeviceGetNvLinkState", GPU, 4) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    remote = reader.value("nvmlDeviceGetNvLinkRemotePciInfo", GPU, 0)
    assert remote["busId"] == reader.value("nvmlDeviceGetPciInfo", {"gpu": 1})["busId"]
    nvml_double.link(0, 2, up=False)
    assert reader.value("nvmlDeviceGetNvLinkState", GPU, 2) == 0
    assert reader.value("nvmlDeviceGetTopologyCommonAncestor", GPU, {"gpu": 1}) == 10
    assert reader.value("nvmlDeviceGetTopologyCommonAncestor", GPU, {"gpu": 7}) == 50
    assert reader.value("nvmlDeviceGetP2PStatus", GPU, {"gpu": 1}, pynvml.NVML_P2P_CAPS_INDEX_NVLINK) == 0
    assert reader.value("nvmlDeviceGetP2PStatus", GPU, {"gpu": 7}, P2P_READ) != 0
    nvml_double.connect_switch(12)
    assert (
        reader.value("nvmlDeviceGetNvLinkRemoteDeviceType", GPU, 11) == pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH
    )


def test_field_values(nvml_double: NvmlDouble, reader: Reader) -> None:
    nvml_double.set(0, "temperature_memory", 66)
    nvml_double.set(0, "nvlink_tx", 4096)
    tx = pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX
    asked = [pynvml.NVML_FI_DEV_MEMORY_TEMP, [tx, 0xFFFFFFFF], [tx, 0], 9999 % 512]
    memory, total, one, unknown = reader.value("nvmlDeviceGetFieldValues", GPU, asked)
    assert (memory["nvmlReturn"], memory["value"]["uiVal"]) == (0, 66)
    assert (total["value"]["ullVal"], one["value"]["ullVal"]) == (4096, 1024)
    assert unknown["nvmlReturn"] == pynvml.NVML_ERROR_NOT_SUPPORTED
    nvml_double.fail_field(pynvml.NVML_FI_DEV_MEMORY_TEMP, 999, gpu=0)
    assert [one["nvmlReturn"] for one in reader.value("nvmlDeviceGetFieldValues", GPU, asked)] == [
        999,
        0,
        0,
        3,
    ]


def test_events(nvml_double: NvmlDouble, reader: Reader) -> None:
    """A set hears of the GPUs that were registered, in order, and nothing from before."""
    nvml_double.xid(0, 13)
    reader.value("set=nvmlEventSetCreate")
    kind = pynvml.nvmlEventTypeXidCriticalError
    reader.value("nvmlDeviceRegisterEvents", {"gpu": 2}, kind, {"kept": "set"})
    assert reader.error("nvmlEventSetWait", {"kept": "set"}, 0) == pynvml.NVML_ERROR_TIMEOUT
    nvml_double.xid(1, 31)
    nvml_double.xid(2, 79)
    event = reader.value("nvmlEventSetWait", {"kept": "set"}, 5000)
    assert (event["eventData"], event["eventType"]) == (79, kind)
    nvml_double.set(3, "events_supported", None)
    unsupported = reader.error("nvmlDeviceRegisterEvents", {"gpu": 3}, kind, {"kept": "set"})
    assert unsupported == pynvml.NVML_ERROR_NOT_SUPPORTED


def test_faults_of_starting(nvml_double: NvmlDouble) -> None:
    with Reader(nvml_double.environment()) as reader:
        for code in (4, 9, 18, 999):
            nvml_double.fail_init(code)
            assert reader.error("nvmlInit") == code
        assert reader.error("nvmlDeviceGetCount") == pynvml.NVML_ERROR_UNINITIALIZED
        nvml_double.fail_init(0)
        reader.value("nvmlInit")
    with Reader(nvml_double.environment(nvml=False)) as reader:
        assert reader.error("nvmlInit") == pynvml.NVML_ERROR_LIBRARY_NOT_FOUND


def test_lost_gpu(nvml_double: NvmlDouble, reader: Reader) -> None:
    reader.value("nvmlDeviceGetName", GPU)
    nvml_double.lose(0)
    assert reader.error("nvmlDeviceGetName", GPU) == pynvml.NVML_ERROR_GPU_IS_LOST
    assert "value" in reader.ask("again=nvmlDeviceGetHandleByIndex", 0)
    nvml_double.lose(0, handle=True)
    assert reader.error("again=nvmlDeviceGetHandleByIndex", 0) == pynvml.NVML_ERROR_GPU_IS_LOST
    assert "value" in reader.ask("other=nvmlDeviceGetHandleByIndex", 1)
    nvml_double.heal()
    assert reader.value("nvmlDeviceGetIndex", GPU) == 0
    nvml_double.remove(0)
    assert reader.value("nvmlDeviceGetCount") == 7
    reader.value("first=nvmlDeviceGetHandleByIndex", 0)
    assert reader.value("nvmlDeviceGetMinorNumber", {"kept": "first"}) == 1


def test_reloaded_driver(nvml_double: NvmlDouble, reader: Reader) -> None:
    """Only a new process recovers."""
    reader.value("nvmlDeviceGetCount")
    nvml_double.reload_driver("575.51.03")
    seen = [reader.error("nvmlDeviceGetCount") for _ in range(4)]
    assert seen == [999, 999, 999, 18]
    assert reader.error("nvmlInit") == 18
    reader.value("nvmlShutdown")
    assert reader.error("nvmlDeviceGetCount") == pynvml.NVML_ERROR_UNINITIALIZED
    assert reader.error("nvmlInit") == 18
    with Reader(nvml_double.environment()) as new:
        new.value("nvmlInit")
        assert new.value("nvmlSystemGetDriverVersion") == "575.51.03"


def test_hang_and_release(nvml_double: NvmlDouble, reader: Reader) -> None:
    reader.value("nvmlDeviceGetPowerUsage", {"gpu": 1})
    nvml_double.hang("nvmlDeviceGetPowerUsage", gpu=1)
    before = nvml_double.calls("nvmlDeviceGetPowerUsage")
    reader.value("nvmlDeviceGetPowerUsage", GPU)
    reader.send("nvmlDeviceGetPowerUsage", {"gpu": 1})
    while nvml_double.calls("nvmlDeviceGetPowerUsage") < before + 2:
        time.sleep(0.005)
    nvml_double.release("nvmlDeviceGetPowerUsage", gpu=1)
    assert reader.answer() == {"value": 75_000}


def test_old_driver(nvml_makeable: None, tmp_path: Path) -> None:
    assert set(functions()) >= OLD_DRIVER
    with NvmlDouble(tmp_path, 1, without=OLD_DRIVER) as double, Reader(double.environment()) as reader:
        reader.value("nvmlInit")
        missing = pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
        assert reader.error("nvmlDeviceGetMemoryInfo", GPU, pynvml.nvmlMemory_v2) == missing
        assert reader.value("nvmlDeviceGetMemoryInfo", GPU)["total"] > 0
        assert reader.error("nvmlDeviceGetComputeRunningProcesses", GPU) == "library mismatch"
        assert reader.value("nvmlDeviceGetComputeRunningProcesses_v2", GPU) == []


def test_whole_header(nvml_double: NvmlDouble, reader: Reader) -> None:
    """What has no code of its own exists and is not supported."""
    assert reader.error("nvmlDeviceGetGspFirmwareVersion", GPU) == pynvml.NVML_ERROR_NOT_SUPPORTED
    assert reader.error("nvmlDeviceGetAccountingMode", GPU) == pynvml.NVML_ERROR_NOT_SUPPORTED


def test_animated(nvml_double: NvmlDouble, reader: Reader) -> None:
    """Load moves with the clock, energy grows, and what is unsupported stays so."""
    nvml_double.animate()
    nvml_double.control.started -= 5  # as if five seconds had passed
    first = reader.value("nvmlDeviceGetTotalEnergyConsumption", GPU)
    loads = [reader.value("nvmlDeviceGetUtilizationRates", {"gpu": gpu})["gpu"] for gpu in range(8)]
    nvml_double.control.started -= 5
    assert [reader.value("nvmlDeviceGetUtilizationRates", {"gpu": gpu})["gpu"] for gpu in range(8)] != loads
    assert reader.value("nvmlDeviceGetTotalEnergyConsumption", GPU) > first
    assert all(0 <= load <= 100 for load in loads)
    assert reader.error("nvmlDeviceGetFanSpeed", GPU) == pynvml.NVML_ERROR_NOT_SUPPORTED
