"""Functions of NVML that go together."""

OLD_DRIVER = frozenset(
    {
        "nvmlDeviceGetComputeRunningProcesses_v3",
        "nvmlDeviceGetGraphicsRunningProcesses_v3",
        "nvmlDeviceGetMPSComputeRunningProcesses_v3",
        "nvmlDeviceGetRunningProcessDetailList",
        "nvmlDeviceGetProcessesUtilizationInfo",
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetSupportedClocksEventReasons",
        "nvmlDeviceGetNumaNodeId",
        "nvmlDeviceGetPciInfoExt",
        "nvmlDeviceGetGpuMaxPcieLinkGeneration",
        "nvmlDeviceGetNumFans",
        "nvmlDeviceGetJpgUtilization",
        "nvmlDeviceGetOfaUtilization",
    }
)
"""What a driver of the 470 series lacks: reserved memory apart, newer process lists and throttle reasons."""

INIT = ("nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags")
HANDLES = (
    "nvmlDeviceGetHandleByIndex",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetHandleByUUID",
    "nvmlDeviceGetHandleBySerial",
    "nvmlDeviceGetHandleByPciBusId",
    "nvmlDeviceGetHandleByPciBusId_v2",
)
PROCESS_LISTS = tuple(
    f"nvmlDeviceGet{kind}RunningProcesses{version}"
    for kind in ("Compute", "Graphics", "MPSCompute")
    for version in ("", "_v2", "_v3")
)
