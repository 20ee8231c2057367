// Copies, streams and events. Work is done when the call that orders it returns, whatever the stream.
#include "cuda_double.h"

#include <stdlib.h>
#include <time.h>

#define ENTER_CONTEXT(function)                                                                                        \
    CUcontext context;                                                                                                 \
    CUresult status = enter_context(F_##function, &context);                                                           \
    if (status)                                                                                                        \
        return status

static void *host(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

static CUresult upload(CUdeviceptr to, const void *from, size_t bytes)
{
    if (!from || !allocated(to, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(host(to), from, bytes);
    return CUDA_SUCCESS;
}

static CUresult download(void *to, CUdeviceptr from, size_t bytes)
{
    if (!to || !allocated(from, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, host(from), bytes);
    return CUDA_SUCCESS;
}

static CUresult between(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    if (!allocated(to, bytes) || !allocated(from, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    memmove(host(to), host(from), bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    ENTER_CONTEXT(cuMemcpyHtoD_v2);
    return upload(to, from, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    ENTER_CONTEXT(cuMemcpyHtoDAsync_v2);
    return upload(to, from, bytes);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    ENTER_CONTEXT(cuMemcpyDtoH_v2);
    return download(to, from, bytes);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER_CONTEXT(cuMemcpyDtoHAsync_v2);
    return download(to, from, bytes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    ENTER_CONTEXT(cuMemcpyDtoD_v2);
    return between(to, from, bytes);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER_CONTEXT(cuMemcpyDtoDAsync_v2);
    return between(to, from, bytes);
}

// One address space: it may be memory of the host or of any device.
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    ENTER_CONTEXT(cuMemcpy);
    memmove(host(to), host(from), bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER_CONTEXT(cuMemcpyAsync);
    memmove(host(to), host(from), bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    ENTER_CONTEXT(cuMemcpyPeer);
    if (!to_context || !from_context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return between(to, from, bytes);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                           CUstream stream)
{
    ENTER_CONTEXT(cuMemcpyPeerAsync);
    if (!to_context || !from_context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return between(to, from, bytes);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes)
{
    ENTER_CONTEXT(cuMemsetD8_v2);
    if (!allocated(to, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    memset(host(to), value, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
    ENTER_CONTEXT(cuMemsetD8Async);
    if (!allocated(to, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    memset(host(to), value, bytes);
    return CUDA_SUCCESS;
}

struct CUstream_st {
    CUcontext context;
};

struct CUevent_st {
    unsigned int flags;
    int recorded;
    struct timespec when;
};

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    ENTER_CONTEXT(cuStreamCreate);
    *stream = calloc(1, sizeof **stream);
    (*stream)->context = context;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    ENTER_CONTEXT(cuStreamDestroy_v2);
    free(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    ENTER_CONTEXT(cuStreamSynchronize);
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream)
{
    ENTER_CONTEXT(cuStreamQuery);
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    ENTER_CONTEXT(cuStreamWaitEvent);
    return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    ENTER_CONTEXT(cuEventCreate);
    *event = calloc(1, sizeof **event);
    (*event)->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    ENTER_CONTEXT(cuEventDestroy_v2);
    free(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    ENTER_CONTEXT(cuEventRecord);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    clock_gettime(CLOCK_MONOTONIC, &event->when);
    event->recorded = 1;
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event)
{
    ENTER_CONTEXT(cuEventSynchronize);
    return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventQuery(CUevent event)
{
    ENTER_CONTEXT(cuEventQuery);
    return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent end)
{
    const unsigned int without_timing = 2;
    if (!start || !end || !start->recorded || !end->recorded || (start->flags | end->flags) & without_timing)
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(end->when.tv_sec - start->when.tv_sec) * 1e3 +
                            (double)(end->when.tv_nsec - start->when.tv_nsec) / 1e6);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    ENTER_CONTEXT(cuEventElapsedTime);
    return elapsed(milliseconds, start, end);
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    ENTER_CONTEXT(cuEventElapsedTime_v2);
    return elapsed(milliseconds, start, end);
}
