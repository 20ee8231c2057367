// What the parts of libnvidia-ml.so.1 share.
#pragma once
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include "shared.h"

#include <nvml.h>
#include <string.h>

struct nvmlDevice_st {
    int slot;
    int instance; // of MIG; -1 is the GPU itself
};

// A call without a GPU: its fault, or what an uninitialised or outdated process gets.
nvmlReturn_t enter(int function);

// A call with a GPU's handle. The first refuses MIG's; the second gives the instance too, NULL for the GPU itself.
nvmlReturn_t enter_gpu(int function, nvmlDevice_t device, gpu_t **gpu);
nvmlReturn_t enter_any(int function, nvmlDevice_t device, gpu_t **gpu, instance_t **instance);

nvmlDevice_t handle_of(int slot, int instance);
int slot_of(const gpu_t *gpu);

// A number of the control file as of now: the wave where it is animated.
long long now_of(const gpu_t *gpu, const long long *number);

nvmlReturn_t give_text(const char *text, char *out, unsigned int length);
void fill_pci(const gpu_t *gpu, nvmlPciInfo_t *pci);

// Total kibibytes through all NVLinks.
long long nvlink_counter(const gpu_t *gpu, int receive);

#define READ(function, type, field)                                                                                    \
    nvmlReturn_t function(nvmlDevice_t device, type *value)                                                            \
    {                                                                                                                  \
        gpu_t *gpu;                                                                                                    \
        nvmlReturn_t status = enter_gpu(F_##function, device, &gpu);                                                   \
        if (status)                                                                                                    \
            return status;                                                                                             \
        if (!value)                                                                                                    \
            return NVML_ERROR_INVALID_ARGUMENT;                                                                        \
        long long number = now_of(gpu, &gpu->field);                                                                   \
        if (number == NONE)                                                                                            \
            return NVML_ERROR_NOT_SUPPORTED;                                                                           \
        *value = (type)number;                                                                                         \
        return NVML_SUCCESS;                                                                                           \
    }

#define READ_TWO(function, type, one, two)                                                                             \
    nvmlReturn_t function(nvmlDevice_t device, type *first, type *second)                                              \
    {                                                                                                                  \
        gpu_t *gpu;                                                                                                    \
        nvmlReturn_t status = enter_gpu(F_##function, device, &gpu);                                                   \
        if (status)                                                                                                    \
            return status;                                                                                             \
        if (!first || !second)                                                                                         \
            return NVML_ERROR_INVALID_ARGUMENT;                                                                        \
        if (gpu->one == NONE || gpu->two == NONE)                                                                      \
            return NVML_ERROR_NOT_SUPPORTED;                                                                           \
        *first = (type)gpu->one;                                                                                       \
        *second = (type)gpu->two;                                                                                      \
        return NVML_SUCCESS;                                                                                           \
    }

#define READ_TEXT(function, field)                                                                                     \
    nvmlReturn_t function(nvmlDevice_t device, char *text, unsigned int length)                                        \
    {                                                                                                                  \
        gpu_t *gpu;                                                                                                    \
        nvmlReturn_t status = enter_gpu(F_##function, device, &gpu);                                                   \
        return status ? status : give_text(gpu->field, text, length);                                                  \
    }

// The beginning of a call that takes a GPU's handle, and giving one figure of it.
#define ENTER(function)                                                                                                \
    gpu_t *gpu;                                                                                                        \
    nvmlReturn_t status = enter_gpu(F_##function, device, &gpu);                                                       \
    if (status)                                                                                                        \
        return status
#define GIVE(out, field)                                                                                               \
    do {                                                                                                               \
        long long number = now_of(gpu, &gpu->field);                                                                   \
        if (number == NONE)                                                                                            \
            return NVML_ERROR_NOT_SUPPORTED;                                                                           \
        *(out) = (__typeof__(*(out)))number;                                                                           \
    } while (0)

// The same for a handle that may be an instance's.
#define ENTER_ANY(function)                                                                                            \
    gpu_t *gpu;                                                                                                        \
    instance_t *instance = NULL;                                                                                       \
    nvmlReturn_t status = enter_any(F_##function, device, &gpu, &instance);                                            \
    if (status)                                                                                                        \
        return status
