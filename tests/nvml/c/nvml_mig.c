// MIG's mode and instances, and what an instance answers as a GPU does: name, memory.
#include "nvml_double.h"

READ_TWO(nvmlDeviceGetMigMode, unsigned int, mig_mode, mig_mode_pending)

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    ENTER_ANY(nvmlDeviceGetName);
    return give_text(instance ? instance->name : gpu->name, name, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    ENTER_ANY(nvmlDeviceGetUUID);
    return give_text(instance ? instance->uuid : gpu->uuid, uuid, length);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
    ENTER_ANY(nvmlDeviceGetIndex);
    if (instance) {
        *index = (unsigned int)(instance - gpu->instances);
        return NVML_SUCCESS;
    }
    *index = 0;
    for (const gpu_t *other = control()->gpu; other < gpu; other++)
        *index += !other->removed;
    return NVML_SUCCESS;
}

static nvmlReturn_t memory_of(const gpu_t *gpu, const instance_t *instance, nvmlMemory_v2_t *memory)
{
    if (instance) {
        memory->total = (unsigned long long)instance->memory_total;
        memory->used = (unsigned long long)instance->memory_used;
        memory->reserved = 0;
    } else {
        if (gpu->memory_total == NONE || gpu->memory_used == NONE || gpu->memory_reserved == NONE)
            return NVML_ERROR_NOT_SUPPORTED;
        memory->total = (unsigned long long)gpu->memory_total;
        memory->used = (unsigned long long)now_of(gpu, &gpu->memory_used);
        memory->reserved = (unsigned long long)gpu->memory_reserved;
    }
    memory->free = memory->total - memory->reserved - memory->used;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    ENTER_ANY(nvmlDeviceGetMemoryInfo);
    nvmlMemory_v2_t whole;
    status = memory_of(gpu, instance, &whole);
    if (status)
        return status;
    memory->total = whole.total;
    memory->free = whole.free;
    memory->used = whole.used + whole.reserved;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    ENTER_ANY(nvmlDeviceGetMemoryInfo_v2);
    if (memory->version != nvmlMemory_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return memory_of(gpu, instance, memory);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *is)
{
    ENTER_ANY(nvmlDeviceIsMigDeviceHandle);
    *is = instance != NULL;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id)
{
    ENTER_ANY(nvmlDeviceGetGpuInstanceId);
    if (!instance)
        return NVML_ERROR_NOT_SUPPORTED;
    *id = (unsigned int)instance->gpu_instance;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int *id)
{
    ENTER_ANY(nvmlDeviceGetComputeInstanceId);
    if (!instance)
        return NVML_ERROR_NOT_SUPPORTED;
    *id = (unsigned int)instance->compute_instance;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t *parent)
{
    ENTER_ANY(nvmlDeviceGetDeviceHandleFromMigDeviceHandle);
    if (!instance)
        return NVML_ERROR_NOT_SUPPORTED;
    *parent = handle_of(slot_of(gpu), -1);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count)
{
    ENTER_ANY(nvmlDeviceGetMaxMigDeviceCount);
    *count = instance || gpu->mig_mode == NONE ? 0 : 7;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t *mig)
{
    ENTER_ANY(nvmlDeviceGetMigDeviceHandleByIndex);
    if (instance || gpu->mig_mode == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    if (gpu->mig_mode != 1 || index >= (unsigned long long)gpu->instance_count)
        return NVML_ERROR_NOT_FOUND;
    *mig = handle_of(slot_of(gpu), (int)index);
    return NVML_SUCCESS;
}

static nvmlReturn_t attributes_of(const instance_t *instance, nvmlDeviceAttributes_t *attributes)
{
    if (!instance)
        return NVML_ERROR_NOT_SUPPORTED;
    memset(attributes, 0, sizeof *attributes);
    attributes->multiprocessorCount = (unsigned int)instance->multiprocessors;
    attributes->sharedCopyEngineCount = 1;
    attributes->gpuInstanceSliceCount = (unsigned int)instance->gpu_slices;
    attributes->computeInstanceSliceCount = (unsigned int)instance->compute_slices;
    attributes->memorySizeMB = (unsigned long long)instance->memory_total >> 20;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)
{
    ENTER_ANY(nvmlDeviceGetAttributes);
    return attributes_of(instance, attributes);
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)
{
    ENTER_ANY(nvmlDeviceGetAttributes_v2);
    return attributes_of(instance, attributes);
}
