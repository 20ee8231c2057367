// The processes of a GPU or an instance, and their shares.
#include "nvml_double.h"

#include <math.h>

// An instance lists its own; the GPU all.
static int listed(const process_t *process, const instance_t *instance, int kind)
{
    if (!(process->kinds & kind))
        return 0;
    return !instance || (process->gpu_instance == instance->gpu_instance &&
                         (process->compute_instance == NONE || process->compute_instance == instance->compute_instance));
}

static unsigned int number_of(const gpu_t *gpu, const instance_t *instance, int kind)
{
    unsigned int number = 0;
    for (int at = 0; at < gpu->process_count; at++)
        number += (unsigned int)listed(&gpu->processes[at], instance, kind);
    return number;
}

#define LIST(function, type, kind, extra)                                                                              \
    nvmlReturn_t function(nvmlDevice_t device, unsigned int *count, type *infos)                                       \
    {                                                                                                                  \
        ENTER_ANY(function);                                                                                           \
        if (!count)                                                                                                    \
            return NVML_ERROR_INVALID_ARGUMENT;                                                                        \
        unsigned int wanted = number_of(gpu, instance, kind), given = 0;                                               \
        if (*count < wanted) {                                                                                         \
            *count = wanted;                                                                                           \
            return NVML_ERROR_INSUFFICIENT_SIZE;                                                                       \
        }                                                                                                              \
        for (int at = 0; at < gpu->process_count && given < wanted; at++) {                                            \
            const process_t *process = &gpu->processes[at];                                                            \
            if (!listed(process, instance, kind))                                                                      \
                continue;                                                                                              \
            type *info = &infos[given++];                                                                              \
            info->pid = (unsigned int)process->pid;                                                                    \
            info->usedGpuMemory =                                                                                      \
                process->memory == NONE ? (unsigned long long)NVML_VALUE_NOT_AVAILABLE : (unsigned long long)process->memory; \
            extra;                                                                                                     \
        }                                                                                                              \
        *count = given;                                                                                                \
        return NVML_SUCCESS;                                                                                           \
    }
#define ID(number) ((number) == NONE ? 0xFFFFFFFFU : (unsigned int)(number))
#define IDS (info->gpuInstanceId = ID(process->gpu_instance), info->computeInstanceId = ID(process->compute_instance))

LIST(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, 1, IDS)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, 2, IDS)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, 4, IDS)
LIST(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, 1, IDS)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t, 2, IDS)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, 4, IDS)
LIST(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t, 1, (void)0)
LIST(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t, 2, (void)0)
LIST(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t, 4, (void)0)

nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *list)
{
    ENTER_ANY(nvmlDeviceGetRunningProcessDetailList);
    if (list->version != nvmlProcessDetailList_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const unsigned int all = 3; // NVML_PROCESS_MODE_ALL, which the header of 13.0 lacks
    int kind = list->mode == all ? 7 : 1 << list->mode;
    unsigned int wanted = number_of(gpu, instance, kind), given = 0;
    if (list->numProcArrayEntries < wanted) {
        list->numProcArrayEntries = wanted;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    for (int at = 0; at < gpu->process_count && given < wanted; at++) {
        const process_t *process = &gpu->processes[at];
        if (!listed(process, instance, kind))
            continue;
        nvmlProcessDetail_v1_t *info = &list->procArray[given++];
        info->pid = (unsigned int)process->pid;
        info->usedGpuMemory = (unsigned long long)(process->memory == NONE ? NVML_VALUE_NOT_AVAILABLE : process->memory);
        IDS;
        info->usedGpuCcProtectedMemory = 0;
    }
    list->numProcArrayEntries = given;
    return NVML_SUCCESS;
}

// One sample a process every sixth of a second, as the driver takes them.
static unsigned long long sampled_at(void)
{
    return (unsigned long long)(floor(seconds() * 6) / 6 * 1e6);
}

static unsigned int share(const gpu_t *gpu, long long percent)
{
    if (percent == NONE)
        return 0;
    return (unsigned int)(control()->animated ? (double)percent * load(slot_of(gpu)) : (double)percent);
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                             unsigned int *count, unsigned long long since)
{
    ENTER_ANY(nvmlDeviceGetProcessUtilization);
    if (instance || gpu->mig_mode == 1 || gpu->process_utilization == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    unsigned long long now = sampled_at();
    unsigned int wanted = 0, given = 0;
    for (int at = 0; at < gpu->process_count; at++)
        wanted += gpu->processes[at].sm != NONE;
    if (!wanted || now <= since)
        return NVML_ERROR_NOT_FOUND;
    if (!samples || *count < wanted) {
        *count = wanted;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    for (int at = 0; at < gpu->process_count && given < wanted; at++) {
        const process_t *process = &gpu->processes[at];
        if (process->sm == NONE)
            continue;
        samples[given++] = (nvmlProcessUtilizationSample_t){
            .pid = (unsigned int)process->pid,
            .timeStamp = now,
            .smUtil = share(gpu, process->sm),
            .memUtil = share(gpu, process->memory_utilization),
            .encUtil = share(gpu, process->encoder),
            .decUtil = share(gpu, process->decoder),
        };
    }
    *count = given;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device, nvmlProcessesUtilizationInfo_t *info)
{
    ENTER_ANY(nvmlDeviceGetProcessesUtilizationInfo);
    if (info->version != nvmlProcessesUtilizationInfo_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (instance || gpu->mig_mode == 1 || gpu->process_utilization == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    unsigned long long now = sampled_at();
    unsigned int wanted = 0, given = 0;
    for (int at = 0; at < gpu->process_count; at++)
        wanted += gpu->processes[at].sm != NONE;
    if (!wanted || now <= info->lastSeenTimeStamp)
        return NVML_ERROR_NOT_FOUND;
    if (!info->procUtilArray || info->processSamplesCount < wanted) {
        info->processSamplesCount = wanted;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    for (int at = 0; at < gpu->process_count && given < wanted; at++) {
        const process_t *process = &gpu->processes[at];
        if (process->sm == NONE)
            continue;
        info->procUtilArray[given++] = (nvmlProcessUtilizationInfo_v1_t){
            .timeStamp = now,
            .pid = (unsigned int)process->pid,
            .smUtil = share(gpu, process->sm),
            .memUtil = share(gpu, process->memory_utilization),
            .encUtil = share(gpu, process->encoder),
            .decUtil = share(gpu, process->decoder),
        };
    }
    info->processSamplesCount = given;
    return NVML_SUCCESS;
}
