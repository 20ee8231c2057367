// Events. A set hears what is raised after it was made, of the GPUs that were registered with it.
#include "nvml_double.h"

#include <stdlib.h>
#include <unistd.h>

struct nvmlEventSet_st {
    long long next;
    unsigned long long kinds[MAX_GPUS];
};

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
    nvmlReturn_t status = enter(F_nvmlEventSetCreate);
    if (status)
        return status;
    struct nvmlEventSet_st *made = calloc(1, sizeof *made);
    made->next = control()->xid_count;
    *set = (nvmlEventSet_t)made;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
    nvmlReturn_t status = enter(F_nvmlEventSetFree);
    if (!status)
        free((void *)set);
    return status;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *kinds)
{
    ENTER(nvmlDeviceGetSupportedEventTypes);
    if (gpu->events_supported == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    *kinds = (unsigned long long)gpu->events_supported;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long kinds, nvmlEventSet_t set)
{
    ENTER(nvmlDeviceRegisterEvents);
    if (gpu->events_supported == NONE || (kinds & ~(unsigned long long)gpu->events_supported))
        return NVML_ERROR_NOT_SUPPORTED;
    ((struct nvmlEventSet_st *)set)->kinds[slot_of(gpu)] |= kinds;
    return NVML_SUCCESS;
}

static nvmlReturn_t wait_event(int function, nvmlEventSet_t handle, nvmlEventData_t *data, unsigned int milliseconds)
{
    struct nvmlEventSet_st *set = (struct nvmlEventSet_st *)handle;
    double until = seconds() + milliseconds / 1e3;
    nvmlReturn_t status = enter(function);
    if (status)
        return status;
    for (;;) {
        while (set->next < control()->xid_count) {
            const xid_t *xid = &control()->xids[set->next++ % MAX_XIDS];
            if (!(set->kinds[xid->gpu] & nvmlEventTypeXidCriticalError))
                continue;
            memset(data, 0, sizeof *data);
            data->device = handle_of((int)xid->gpu, -1);
            data->eventType = nvmlEventTypeXidCriticalError;
            data->eventData = (unsigned long long)xid->code;
            data->gpuInstanceId = data->computeInstanceId = 0xFFFFFFFFU;
            return NVML_SUCCESS;
        }
        if (seconds() >= until)
            return NVML_ERROR_TIMEOUT;
        usleep(20000);
    }
}

nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int milliseconds)
{
    return wait_event(F_nvmlEventSetWait, set, data, milliseconds);
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int milliseconds)
{
    return wait_event(F_nvmlEventSetWait_v2, set, data, milliseconds);
}
