// What the parts of libcuda.so.1 share: the driver's types as its documentation gives them.
#pragma once
#include "shared.h"

#include <stdint.h>
#include <string.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct {
    char bytes[16];
} CUuuid;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
};

// A device as this process sees it: a GPU, or an instance of MIG.
typedef struct {
    int slot;
    int instance; // -1 is the GPU itself
} visible_t;

// A call about no device, one device, and one that works in the current context.
CUresult enter(int function);
CUresult enter_device(int function, CUdevice device, const gpu_t **gpu);
CUresult enter_context(int function, CUcontext *context);

int device_count(void);
const visible_t *visible(CUdevice device);

struct CUctx_st {
    CUdevice device;
    int alive;
    int users; // of a primary context
    unsigned int peers;
};

// Whether these bytes lie within one allocation of device memory.
int allocated(CUdeviceptr address, size_t bytes);
