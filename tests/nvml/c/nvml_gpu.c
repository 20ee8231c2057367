// One figure of one GPU a call.
#include "nvml_double.h"

long long now_of(const gpu_t *gpu, const long long *number)
{
    if (!control()->animated || *number == NONE)
        return *number;
    int slot = slot_of(gpu);
    double busy = load(slot);
    if (number == &gpu->utilization_gpu)
        return (long long)(100 * busy);
    if (number == &gpu->utilization_memory)
        return (long long)(60 * busy);
    if (number == &gpu->memory_used)
        return (long long)((double)*number * (0.7 + 0.3 * busy));
    if (number == &gpu->temperature || number == &gpu->temperature_memory)
        return (long long)(30 + 45 * busy);
    if (number == &gpu->power)
        return (long long)((double)gpu->power_limit_default * (0.15 + 0.75 * busy));
    if (number == &gpu->energy)
        return *number + (long long)((double)gpu->power_limit_default *
                                     (0.15 * (seconds() - control()->started) + 0.75 * load_so_far(slot)));
    if (number == &gpu->clock_sm || number == &gpu->clock_graphics)
        return (long long)((double)gpu->clock_sm_max * (0.6 + 0.4 * busy));
    if (number == &gpu->fan)
        return (long long)(30 + 50 * busy);
    if (number == &gpu->pcie_tx || number == &gpu->pcie_rx)
        return (long long)(12e6 * busy);
    return *number;
}

READ_TEXT(nvmlDeviceGetSerial, serial)
READ_TEXT(nvmlDeviceGetVbiosVersion, vbios)
READ_TEXT(nvmlDeviceGetBoardPartNumber, part_number)
READ_TEXT(nvmlDeviceGetInforomImageVersion, inforom)
READ(nvmlDeviceGetMinorNumber, unsigned int, minor_number)
READ(nvmlDeviceGetBrand, nvmlBrandType_t, brand)
READ(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t, architecture)
READ(nvmlDeviceGetNumaNodeId, unsigned int, numa_node)
READ(nvmlDeviceGetNumGpuCores, unsigned int, cores)
READ(nvmlDeviceGetMemoryBusWidth, unsigned int, memory_bus_width)
READ_TWO(nvmlDeviceGetCudaComputeCapability, int, compute_major, compute_minor)

READ(nvmlDeviceGetPowerUsage, unsigned int, power)
READ(nvmlDeviceGetPowerManagementLimit, unsigned int, power_limit)
READ(nvmlDeviceGetEnforcedPowerLimit, unsigned int, power_limit_enforced)
READ(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int, power_limit_default)
READ_TWO(nvmlDeviceGetPowerManagementLimitConstraints, unsigned int, power_limit_min, power_limit_max)
READ(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, energy)
READ(nvmlDeviceGetPerformanceState, nvmlPstates_t, performance_state)
READ(nvmlDeviceGetPowerState, nvmlPstates_t, performance_state)
READ(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, clocks_event_reasons)
READ(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, clocks_event_reasons)
READ(nvmlDeviceGetFanSpeed, unsigned int, fan)
READ(nvmlDeviceGetNumFans, unsigned int, fans)

READ(nvmlDeviceGetComputeMode, nvmlComputeMode_t, compute_mode)
READ(nvmlDeviceGetPersistenceMode, nvmlEnableState_t, persistence_mode)
READ(nvmlDeviceGetDisplayMode, nvmlEnableState_t, display_mode)
READ(nvmlDeviceGetDisplayActive, nvmlEnableState_t, display_active)
READ_TWO(nvmlDeviceGetEccMode, nvmlEnableState_t, ecc_mode, ecc_mode_pending)
READ(nvmlDeviceGetRetiredPagesPendingStatus, nvmlEnableState_t, retired_pending)

READ(nvmlDeviceGetCurrPcieLinkGeneration, unsigned int, pcie_generation)
READ(nvmlDeviceGetMaxPcieLinkGeneration, unsigned int, pcie_generation_max)
READ(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned int, pcie_generation_device_max)
READ(nvmlDeviceGetCurrPcieLinkWidth, unsigned int, pcie_width)
READ(nvmlDeviceGetMaxPcieLinkWidth, unsigned int, pcie_width_max)
READ(nvmlDeviceGetPcieReplayCounter, unsigned int, pcie_replay)

// Calls that give several figures, or take what to give.
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
    ENTER(nvmlDeviceGetUtilizationRates);
    if (gpu->mig_mode == 1)
        return NVML_ERROR_NOT_SUPPORTED;
    GIVE(&utilization->gpu, utilization_gpu);
    GIVE(&utilization->memory, utilization_memory);
    return NVML_SUCCESS;
}

#define UTILIZATION(function, field)                                                                                   \
    nvmlReturn_t function(nvmlDevice_t device, unsigned int *utilization, unsigned int *period)                        \
    {                                                                                                                  \
        ENTER(function);                                                                                               \
        GIVE(utilization, field);                                                                                      \
        *period = 167000;                                                                                              \
        return NVML_SUCCESS;                                                                                           \
    }
UTILIZATION(nvmlDeviceGetEncoderUtilization, encoder)
UTILIZATION(nvmlDeviceGetDecoderUtilization, decoder)
UTILIZATION(nvmlDeviceGetJpgUtilization, jpeg)
UTILIZATION(nvmlDeviceGetOfaUtilization, ofa)

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned int *celsius)
{
    ENTER(nvmlDeviceGetTemperature);
    if (sensor != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    GIVE(celsius, temperature);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)
{
    ENTER(nvmlDeviceGetTemperatureV);
    if (temperature->version != nvmlTemperature_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (temperature->sensorType != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    GIVE(&temperature->temperature, temperature);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, nvmlTemperatureThresholds_t which, unsigned int *celsius)
{
    ENTER(nvmlDeviceGetTemperatureThreshold);
    switch (which) {
    case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN:
        GIVE(celsius, temperature_shutdown);
        return NVML_SUCCESS;
    case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN:
        GIVE(celsius, temperature_slowdown);
        return NVML_SUCCESS;
    case NVML_TEMPERATURE_THRESHOLD_MEM_MAX:
        GIVE(celsius, temperature_memory_max);
        return NVML_SUCCESS;
    case NVML_TEMPERATURE_THRESHOLD_GPU_MAX:
        GIVE(celsius, temperature_gpu_max);
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_NOT_SUPPORTED;
    }
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int *speed)
{
    ENTER(nvmlDeviceGetFanSpeed_v2);
    if (gpu->fans == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    if (fan >= (unsigned long long)gpu->fans)
        return NVML_ERROR_INVALID_ARGUMENT;
    GIVE(speed, fan);
    return NVML_SUCCESS;
}

static nvmlReturn_t clock_now(gpu_t *gpu, nvmlClockType_t type, unsigned int *mhz)
{
    switch (type) {
    case NVML_CLOCK_GRAPHICS:
        GIVE(mhz, clock_graphics);
        return NVML_SUCCESS;
    case NVML_CLOCK_SM:
        GIVE(mhz, clock_sm);
        return NVML_SUCCESS;
    case NVML_CLOCK_MEM:
        GIVE(mhz, clock_memory);
        return NVML_SUCCESS;
    case NVML_CLOCK_VIDEO:
        GIVE(mhz, clock_video);
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_INVALID_ARGUMENT;
    }
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz)
{
    ENTER(nvmlDeviceGetClockInfo);
    return clock_now(gpu, type, mhz);
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id, unsigned int *mhz)
{
    ENTER(nvmlDeviceGetClock);
    return id == NVML_CLOCK_ID_CURRENT ? clock_now(gpu, type, mhz) : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz)
{
    ENTER(nvmlDeviceGetMaxClockInfo);
    switch (type) {
    case NVML_CLOCK_GRAPHICS:
        GIVE(mhz, clock_graphics_max);
        return NVML_SUCCESS;
    case NVML_CLOCK_SM:
        GIVE(mhz, clock_sm_max);
        return NVML_SUCCESS;
    case NVML_CLOCK_MEM:
        GIVE(mhz, clock_memory_max);
        return NVML_SUCCESS;
    case NVML_CLOCK_VIDEO:
        GIVE(mhz, clock_video_max);
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_INVALID_ARGUMENT;
    }
}

nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons)
{
    ENTER(nvmlDeviceGetSupportedClocksEventReasons);
    *reasons = 0x1FF;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons)
{
    ENTER(nvmlDeviceGetSupportedClocksThrottleReasons);
    *reasons = 0x1FF;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter, unsigned int *value)
{
    ENTER(nvmlDeviceGetPcieThroughput);
    if (counter == NVML_PCIE_UTIL_TX_BYTES)
        GIVE(value, pcie_tx);
    else if (counter == NVML_PCIE_UTIL_RX_BYTES)
        GIVE(value, pcie_rx);
    else
        return NVML_ERROR_INVALID_ARGUMENT;
    return NVML_SUCCESS;
}
