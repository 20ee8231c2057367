// Contexts and memory. Device memory is host memory, and copies really copy.
#include "cuda_double.h"

#include <pthread.h>
#include <stdlib.h>

#define MAX_STACK 16

static __thread CUcontext stack[MAX_STACK];
static __thread int depth;
static struct CUctx_st primary[MAX_GPUS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct block {
    struct block *next;
    CUdevice device;
    size_t bytes;
    _Alignas(64) char memory[];
} block_t;
static block_t *blocks;

CUresult enter_context(int function, CUcontext *context)
{
    if (device_count() < 0)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!depth || !stack[depth - 1])
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[depth - 1];
    if (!(*context)->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return act(function, visible((*context)->device)->slot);
}

#define ENTER_CONTEXT(function)                                                                                        \
    CUcontext context;                                                                                                 \
    CUresult status = enter_context(F_##function, &context);                                                           \
    if (status)                                                                                                        \
        return status

CUresult cuCtxCreate_v2(CUcontext *made, unsigned int flags, CUdevice device)
{
    const gpu_t *gpu;
    CUresult status = enter_device(F_cuCtxCreate_v2, device, &gpu);
    if (status)
        return status;
    if (gpu->compute_mode == 2) // prohibited
        return CUDA_ERROR_INVALID_DEVICE;
    if (depth == MAX_STACK)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *made = calloc(1, sizeof **made);
    (*made)->device = device;
    (*made)->alive = 1;
    stack[depth++] = *made;
    return CUDA_SUCCESS;
}

// A destroyed context's place stays, so that its further use is told from any other.
CUresult cuCtxDestroy_v2(CUcontext context)
{
    CUresult status = enter(F_cuCtxDestroy_v2);
    if (status)
        return status;
    if (!context || !context->alive)
        return CUDA_ERROR_INVALID_CONTEXT;
    context->alive = 0;
    if (depth && stack[depth - 1] == context)
        depth--;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    const gpu_t *gpu;
    CUresult status = enter_device(F_cuDevicePrimaryCtxRetain, device, &gpu);
    if (status)
        return status;
    if (gpu->compute_mode == 2)
        return CUDA_ERROR_INVALID_DEVICE;
    *context = &primary[device];
    (*context)->device = device;
    (*context)->alive = 1;
    (*context)->users++;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    const gpu_t *gpu;
    CUresult status = enter_device(F_cuDevicePrimaryCtxRelease_v2, device, &gpu);
    if (status)
        return status;
    if (!primary[device].users)
        return CUDA_ERROR_INVALID_CONTEXT;
    primary[device].alive = --primary[device].users > 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult status = enter(F_cuCtxSetCurrent);
    if (status)
        return status;
    if (context && !context->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (depth)
        depth--;
    if (context)
        stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CUresult status = enter(F_cuCtxGetCurrent);
    if (!status)
        *context = depth ? stack[depth - 1] : NULL;
    return status;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    CUresult status = enter(F_cuCtxPushCurrent_v2);
    if (status)
        return status;
    if (!context || !context->alive || depth == MAX_STACK)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    CUresult status = enter(F_cuCtxPopCurrent_v2);
    if (status)
        return status;
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (context)
        *context = stack[depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    ENTER_CONTEXT(cuCtxGetDevice);
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    ENTER_CONTEXT(cuCtxSynchronize);
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    ENTER_CONTEXT(cuCtxEnablePeerAccess);
    if (!peer || !peer->alive || peer->device == context->device)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    const gpu_t *gpu = &control()->gpu[visible(context->device)->slot];
    if (gpu->p2p[visible(peer->device)->slot][0])
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (context->peers & 1U << peer->device)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    context->peers |= 1U << peer->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    ENTER_CONTEXT(cuCtxDisablePeerAccess);
    if (!peer || !(context->peers & 1U << peer->device))
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    context->peers &= ~(1U << peer->device);
    return CUDA_SUCCESS;
}

static size_t used_of(CUdevice device)
{
    size_t bytes = 0;
    for (const block_t *block = blocks; block; block = block->next)
        bytes += block->device == device ? block->bytes : 0;
    return bytes;
}

static size_t free_of(CUdevice device)
{
    const gpu_t *gpu = &control()->gpu[visible(device)->slot];
    int instance = visible(device)->instance;
    long long total = instance < 0 ? gpu->memory_total - gpu->memory_reserved : gpu->instances[instance].memory_total;
    long long used = instance < 0 ? gpu->memory_used : gpu->instances[instance].memory_used;
    long long left = total - used - (long long)used_of(device);
    return left < 0 ? 0 : (size_t)left;
}

CUresult cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    ENTER_CONTEXT(cuMemGetInfo_v2);
    pthread_mutex_lock(&lock);
    *unused = free_of(context->device);
    pthread_mutex_unlock(&lock);
    int instance = visible(context->device)->instance;
    const gpu_t *gpu = &control()->gpu[visible(context->device)->slot];
    *total = (size_t)(instance < 0 ? gpu->memory_total : gpu->instances[instance].memory_total);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    ENTER_CONTEXT(cuMemAlloc_v2);
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    size_t whole = (sizeof(block_t) + bytes + 63) / 64 * 64;
    block_t *block = bytes <= free_of(context->device) ? aligned_alloc(64, whole) : NULL;
    if (block) {
        *block = (block_t){.next = blocks, .device = context->device, .bytes = bytes};
        blocks = block;
        *address = (CUdeviceptr)(uintptr_t)block->memory;
    }
    pthread_mutex_unlock(&lock);
    return block ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    ENTER_CONTEXT(cuMemFree_v2);
    if (!address)
        return CUDA_SUCCESS;
    status = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (block_t **at = &blocks; *at; at = &(*at)->next)
        if ((CUdeviceptr)(uintptr_t)(*at)->memory == address) {
            block_t *block = *at;
            *at = block->next;
            free(block);
            status = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&lock);
    return status;
}

int allocated(CUdeviceptr address, size_t bytes)
{
    int within = 0;
    pthread_mutex_lock(&lock);
    for (const block_t *block = blocks; block && !within; block = block->next) {
        CUdeviceptr start = (CUdeviceptr)(uintptr_t)block->memory;
        within = address >= start && address + bytes <= start + block->bytes;
    }
    pthread_mutex_unlock(&lock);
    return within;
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    ENTER_CONTEXT(cuMemHostAlloc);
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAllocHost_v2(void **memory, size_t bytes)
{
    ENTER_CONTEXT(cuMemAllocHost_v2);
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *memory)
{
    ENTER_CONTEXT(cuMemFreeHost);
    free(memory);
    return CUDA_SUCCESS;
}
