// Start and end, faults, versions, handles.
#include "nvml_double.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static struct nvmlDevice_st handles[MAX_GPUS][MAX_INSTANCES + 1];
static int users;
static long long born = NONE; // the driver's generation when this process first initialised
static int stale_calls;

static int outdated(void)
{
    return born != NONE && born != control()->driver_generation;
}

nvmlReturn_t enter(int function)
{
    if (!control() || !users)
        return NVML_ERROR_UNINITIALIZED;
    nvmlReturn_t status = act(function, MAX_GPUS);
    if (status)
        return status;
    // A process whose driver was replaced under it: first unknown errors, then a mismatch, whatever it asks.
    if (outdated())
        return ++stale_calls <= 3 ? NVML_ERROR_UNKNOWN : NVML_ERROR_LIB_RM_VERSION_MISMATCH;
    return NVML_SUCCESS;
}

nvmlReturn_t enter_any(int function, nvmlDevice_t device, gpu_t **gpu, instance_t **instance)
{
    control_t *all = control();
    if (!all || !users)
        return NVML_ERROR_UNINITIALIZED;
    if (device < &handles[0][0] || device > &handles[MAX_GPUS - 1][MAX_INSTANCES])
        return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t status = act(function, device->slot);
    if (status)
        return status;
    if (outdated())
        return ++stale_calls <= 3 ? NVML_ERROR_UNKNOWN : NVML_ERROR_LIB_RM_VERSION_MISMATCH;
    *gpu = &all->gpu[device->slot];
    if ((*gpu)->removed)
        return NVML_ERROR_GPU_IS_LOST;
    if ((*gpu)->fault)
        return (nvmlReturn_t)(*gpu)->fault;
    *instance = device->instance < 0 ? NULL : &(*gpu)->instances[device->instance];
    return NVML_SUCCESS;
}

nvmlReturn_t enter_gpu(int function, nvmlDevice_t device, gpu_t **gpu)
{
    instance_t *instance = NULL;
    nvmlReturn_t status = enter_any(function, device, gpu, &instance);
    return status ? status : instance ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

nvmlDevice_t handle_of(int slot, int instance)
{
    nvmlDevice_t handle = &handles[slot][instance + 1];
    handle->slot = slot;
    handle->instance = instance;
    return handle;
}

int slot_of(const gpu_t *gpu)
{
    return (int)(gpu - control()->gpu);
}

nvmlReturn_t give_text(const char *text, char *out, unsigned int length)
{
    if (!out)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (!*text)
        return NVML_ERROR_NOT_SUPPORTED;
    if (strlen(text) + 1 > length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(out, text);
    return NVML_SUCCESS;
}

static nvmlReturn_t start(int function)
{
    control_t *all = control();
    if (!all)
        return NVML_ERROR_DRIVER_NOT_LOADED;
    nvmlReturn_t status = act(function, MAX_GPUS);
    if (status)
        return status;
    if (outdated())
        return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
    born = all->driver_generation;
    users++;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit(void)
{
    return start(F_nvmlInit);
}

nvmlReturn_t nvmlInit_v2(void)
{
    return start(F_nvmlInit_v2);
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
    (void)flags;
    return start(F_nvmlInitWithFlags);
}

nvmlReturn_t nvmlShutdown(void)
{
    if (!users)
        return NVML_ERROR_UNINITIALIZED;
    nvmlReturn_t status = act(F_nvmlShutdown, MAX_GPUS);
    if (!status)
        users--;
    return status;
}

const char *nvmlErrorString(nvmlReturn_t result)
{
    static const char *const texts[] = {
        "Success", "Uninitialized", "Invalid Argument", "Not Supported", "Insufficient Permissions",
        "Already Initialized", "Not Found", "Insufficient Size", "Insufficient External Power",
        "Driver Not Loaded", "Timeout", "Interrupt Request Issue", "NVML Shared Library Not Found",
        "Function Not Found", "Corrupted infoROM", "GPU is lost", "GPU requires reset",
        "GPU access blocked by the operating system", "Driver/library version mismatch", "In use by another client",
        "Insufficient Memory", "No data", "vGPU ECC not supported", "Insufficient Resources",
        "Frequency not supported", "Argument version mismatch", "Deprecated", "Not ready", "No GPUs found",
    };
    return (unsigned int)result < sizeof texts / sizeof *texts ? texts[result] : "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    nvmlReturn_t status = enter(F_nvmlSystemGetDriverVersion);
    return status ? status : give_text(control()->driver_version, version, length);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    nvmlReturn_t status = enter(F_nvmlSystemGetNVMLVersion);
    return status ? status : give_text(control()->nvml_version, version, length);
}

static nvmlReturn_t cuda_version(int function, int *version)
{
    nvmlReturn_t status = enter(function);
    if (status)
        return status;
    *version = (int)control()->cuda_version;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
    return cuda_version(F_nvmlSystemGetCudaDriverVersion, version);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    return cuda_version(F_nvmlSystemGetCudaDriverVersion_v2, version);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
    nvmlReturn_t status = enter(F_nvmlSystemGetProcessName);
    if (status)
        return status;
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return NVML_ERROR_NOT_FOUND;
    char *read = fgets(line, sizeof line, file);
    fclose(file);
    if (!read)
        return NVML_ERROR_NOT_FOUND;
    line[strcspn(line, "\n")] = 0;
    return give_text(line, name, length);
}

static nvmlReturn_t count(int function, unsigned int *number)
{
    nvmlReturn_t status = enter(function);
    if (status)
        return status;
    *number = 0;
    for (int slot = 0; slot < control()->gpus; slot++)
        *number += !control()->gpu[slot].removed;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned int *number)
{
    return count(F_nvmlDeviceGetCount, number);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *number)
{
    return count(F_nvmlDeviceGetCount_v2, number);
}

// A handle may be refused for one GPU alone.
static nvmlReturn_t handle_at(int function, int slot, nvmlDevice_t *device)
{
    if (!device)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t status = again(function, slot);
    if (status)
        return status;
    *device = handle_of(slot, -1);
    return NVML_SUCCESS;
}

static nvmlReturn_t by_index(int function, unsigned int index, nvmlDevice_t *device)
{
    nvmlReturn_t status = enter(function);
    if (status)
        return status;
    unsigned int rank = 0;
    for (int slot = 0; slot < control()->gpus; slot++)
        if (!control()->gpu[slot].removed && rank++ == index)
            return handle_at(function, slot, device);
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device)
{
    return by_index(F_nvmlDeviceGetHandleByIndex, index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    return by_index(F_nvmlDeviceGetHandleByIndex_v2, index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    nvmlReturn_t status = enter(F_nvmlDeviceGetHandleByUUID);
    if (status)
        return status;
    for (int slot = 0; slot < control()->gpus; slot++) {
        const gpu_t *gpu = &control()->gpu[slot];
        if (gpu->removed)
            continue;
        if (!strcasecmp(gpu->uuid, uuid))
            return handle_at(F_nvmlDeviceGetHandleByUUID, slot, device);
        for (int number = 0; number < gpu->instance_count; number++)
            if (!strcasecmp(gpu->instances[number].uuid, uuid)) {
                *device = handle_of(slot, number);
                return NVML_SUCCESS;
            }
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)
{
    nvmlReturn_t status = enter(F_nvmlDeviceGetHandleBySerial);
    if (status)
        return status;
    for (int slot = 0; slot < control()->gpus; slot++)
        if (!control()->gpu[slot].removed && !strcmp(control()->gpu[slot].serial, serial))
            return handle_at(F_nvmlDeviceGetHandleBySerial, slot, device);
    return NVML_ERROR_NOT_FOUND;
}

static nvmlReturn_t by_bus(int function, const char *bus, nvmlDevice_t *device)
{
    nvmlReturn_t status = enter(function);
    if (status)
        return status;
    unsigned int domain = 0, number, slot_number, part = 0;
    if (sscanf(bus, "%x:%x:%x.%x", &domain, &number, &slot_number, &part) < 3) {
        domain = 0;
        if (sscanf(bus, "%x:%x.%x", &number, &slot_number, &part) < 2)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (int slot = 0; slot < control()->gpus; slot++) {
        const gpu_t *gpu = &control()->gpu[slot];
        if (!gpu->removed && gpu->pci_domain == domain && gpu->pci_bus == number && gpu->pci_device == slot_number)
            return handle_at(function, slot, device);
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *bus, nvmlDevice_t *device)
{
    return by_bus(F_nvmlDeviceGetHandleByPciBusId, bus, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *device)
{
    return by_bus(F_nvmlDeviceGetHandleByPciBusId_v2, bus, device);
}
